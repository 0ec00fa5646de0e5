import { ByteReader } from '@ledger-state/core'
import { findFields, type ModuleId, type MoveModule, ValueWalker } from '@ledger-state/move-module'
import type { StructTag } from '@ledger-state/type-tag'
import { readResource } from '../resources/read-resource.js'
import type { LedgerState } from '../state/ledger-state.js'

/**
 * The bytes of a field of a resource; undefined if the resource has no such field.
 * @throws `resource_not_found`; `stored_data_invalid`; `invalid_bcs` and `invalid_module` if the resource cannot be read
 */
export function readField(
  state: LedgerState,
  address: Uint8Array,
  tag: StructTag,
  fieldName: string,
): Uint8Array | undefined {
  const { bytes } = readResource(state, address, tag)
  const { view, source } = state
  const findModule = (id: ModuleId): MoveModule | undefined => source.modules.find(view, id)?.read()
  const names = fieldNames(tag, findModule)
  const fields = findFields(tag, findModule)
  if (!names || !fields) return undefined
  const walker = new ValueWalker(findModule, () => false)
  const reader = new ByteReader(bytes)
  const variant = fields.isEnum ? reader.readUleb128() : 0
  for (const [at, name] of (names[variant] ?? []).entries()) {
    const start = reader.offset
    if (walker.walk(fields.variants[variant]![at]!, reader) !== 'passed') return undefined
    if (name === fieldName) return bytes.subarray(start, reader.offset)
  }
  return undefined
}

function fieldNames(
  tag: StructTag,
  findModule: (id: ModuleId) => MoveModule | undefined,
): readonly (readonly string[])[] | undefined {
  const module = findModule({ address: tag.address, name: tag.module })
  const definition = module?.structs.find(({ name }) => name === tag.name)
  if (!definition || definition.kind === 'native') return undefined
  const variants = definition.kind === 'enum' ? definition.variants : [definition]
  return variants.map(({ fields }) => fields.map(({ name }) => name))
}
