"""Plans a load before it is done: validation, fitting settings, options for a full cache."""
