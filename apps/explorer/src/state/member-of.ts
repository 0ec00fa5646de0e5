/** The text at a path of members of a value; undefined if there is none. */
export function memberOf(value: unknown, path: readonly string[]): string | undefined {
  const found = path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Readonly<Record<string, unknown>>)[name]
        : undefined,
    value,
  )
  return typeof found === 'string' ? found : undefined
}
