import { ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { parseStructTag, type StructTag, typeTagToText } from '@ledger-state/type-tag'
import type { StructDefinition } from './module-definition.js'

// Metadata that the Aptos compiler leaves in a module; see docs/ledger-formats.md, section "Module metadata".

export interface MetadataEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export const ATTRIBUTES_KEY = 'aptos::metadata_v1'
const GROUP_MEMBER = 3

/**
 * The resource group of each struct that is a member of one. Metadata that does not parse says nothing: a chain accepts
 * any, and the definitions beside it are good.
 */
export function readResourceGroups(entries: readonly MetadataEntry[]): Map<string, StructTag> {
  const groups = new Map<string, StructTag>()
  const entry = entries.find(({ key }) => Buffer.from(key).toString('latin1') === ATTRIBUTES_KEY)
  if (!entry) return groups
  try {
    const reader = new ByteReader(entry.value)
    // Map of error codes: u64 -> (name, text).
    forEachItem(reader, () => {
      reader.readU64()
      reader.readByteString()
      reader.readByteString()
    })
    // Map of struct attributes: name -> list of (u8 kind, list of arguments).
    forEachItem(reader, () => {
      const struct = readText(reader)
      forEachItem(reader, () => {
        const kind = reader.readU8()
        const [group] = readTexts(reader)
        if (kind === GROUP_MEMBER && group !== undefined) groups.set(struct, parseStructTag(group))
      })
    })
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs', 'invalid_type_tag')) throw error
  }
  return groups
}

/** The metadata that says the same of the definitions; undefined where none is a member of a group. */
export function resourceGroupsToMetadata(definitions: readonly StructDefinition[]): Uint8Array | undefined {
  const members = definitions
    .flatMap(({ name, resourceGroup }) => (resourceGroup ? [{ name, group: typeTagToText(resourceGroup) }] : []))
    .sort((a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
  if (members.length === 0) return undefined
  const writer = new ByteWriter().uleb128(0).uleb128(members.length)
  for (const { name, group } of members) writer.string(name).uleb128(1).u8(GROUP_MEMBER).uleb128(1).string(group)
  return writer.uleb128(0).toBytes()
}

function forEachItem(reader: ByteReader, readItem: () => void): void {
  for (let count = reader.readLength(); count > 0; count--) readItem()
}

function readTexts(reader: ByteReader): string[] {
  const texts: string[] = []
  forEachItem(reader, () => texts.push(readText(reader)))
  return texts
}

function readText(reader: ByteReader): string {
  return reader.readByteString().toString('utf8')
}
