/** The folders that tables of rooms name on a page, by package: the columns below `PACKAGE/src`. */
export function roomsOnPage(page: string): Map<string, readonly string[]> {
  const rooms = new Map<string, readonly string[]>()
  for (const [, head, body] of page.matchAll(/^(\| `[\w/-]+\/src`.*\|)\n\| -.*\n((?:\|.*\n)+)/gm)) {
    const rows = body!.trim().split('\n').map(cellsOf)
    for (const [column, cell] of cellsOf(head!).entries()) {
      const name = /^`(.*)\/src`$/.exec(cell)?.[1]
      if (name)
        rooms.set(
          name,
          rows.flatMap((row) => /^`(.*)\/`$/.exec(row[column]!)?.[1] ?? []),
        )
    }
  }
  return rooms
}

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}
