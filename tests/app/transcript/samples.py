"""Messages for the tests of the conversation."""

from __future__ import annotations

from app.transcript import ShownTurn

ANSWER = """Both requests walk the same prefix tree, so the cells of the **common prefix** are stored once.

```python
def allocate(pool, n: int) -> list[int]:
    free = pool.free_cells()  # lowest index first
    if len(free) < n:
        raise OutOfCells(need=n)
    return free[:n]
```

Three checks matter before a cell is `handed out`:

1. **Capacity** – enough free cells, or evict.
2. **Order** – positions stay contiguous. 共享前缀也一样。

| Request | Cells |
|---|--:|
| Chat A | 12,410 |
"""

EVERYTHING = (
    ANSWER
    + """
# Heading *one*

- [ ] open task
- [x] done task
  - nested [link **bold**](https://example.org/x "title") and ~~struck~~
    > quote inside

> quoted &amp; `code`
>
> 1. item

这是**“重点”**的一句话。 $E = mc^2$ costs $5 or $6, \\(a+b\\)

$$
\\frac{a}{b}
$$

***

<b>bold?</b> <img src="file:///etc/passwd"> ![alt words](https://example.org/cat.png) List<int>

<div onclick="run()">
secretive words
</div>

    indented code

[zebra]: https://example.org/giraffe
"""
)


def chat(n_turns: int) -> list[ShownTurn]:
    """A chat of `n_turns`, questions and answers by turns, about 650 characters each on average."""
    turns = []
    for i in range(n_turns):
        if i % 2 == 0:
            turns.append(ShownTurn(str(i), "user", f"Question {i}: how do two chats share cells?"))
        else:
            turns.append(
                ShownTurn(str(i), "assistant", ANSWER + f"\nAnswer {i}.\n\n" + "More words follow here. " * 28)
            )
    return turns
