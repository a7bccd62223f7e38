"""The bill of materials beside the packages, in CycloneDX's JSON."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from tools.package.components import Component

SPDX_ID = re.compile(r"^(?!LicenseRef)[\w.+-]+$")


def bill_of_materials(parts: Sequence[Component], time_s: int) -> str:
    """A CycloneDX 1.6 document: the first part is the product, the others are what is in it.

    `time_s` is the time of the sources (seconds since 1970), so that the same sources give the same document.
    """
    product, *contents = [_component(part) for part in parts]
    product["type"] = "application"
    content = json.dumps([product, contents])
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=hashlib.sha256(content.encode()).digest()[:16], version=4)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(time_s, UTC).isoformat().replace("+00:00", "Z"),
            "component": product,
        },
        "components": contents,
        "dependencies": [{"ref": product["bom-ref"], "dependsOn": [part["bom-ref"] for part in contents]}],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _component(part: Component) -> dict[str, Any]:
    is_id = SPDX_ID.match(part.licence) is not None
    found: dict[str, Any] = {
        "type": part.kind,
        "bom-ref": part.purl or f"{part.name}@{part.version}",
        "name": part.name,
        "version": part.version,
        "licenses": [{"license": {"id": part.licence}} if is_id else {"expression": part.licence}],
        "purl": part.purl,
        "description": " ".join(part.note.split()),
    }
    if part.home:
        found["externalReferences"] = [{"type": "website", "url": part.home}]
    if part.sha256:
        found["hashes"] = [{"alg": "SHA-256", "content": part.sha256}]
    return {key: value for key, value in found.items() if value}
