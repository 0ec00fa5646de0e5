import type { TableTypes } from './route.ts'

/** Path of the items of a table, with the types that are known. */
export function tableItemsPath(handle: string, { keyType, valueType, holder }: TableTypes, limit: number): string {
  const parameters = new URLSearchParams({ limit: String(limit) })
  if (keyType) parameters.set('key_type', keyType)
  if (valueType) parameters.set('value_type', valueType)
  if (holder) parameters.set('holder', holder)
  return `/tables/${encodeURIComponent(handle)}/items?${parameters}`
}
