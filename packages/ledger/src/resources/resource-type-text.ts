import { addressToShortHex } from '@ledger-state/core'
import type { FunctionSlot, StructTag, TypeTag } from '@ledger-state/type-tag'

/**
 * Text of a resource's type, as the reference prints it next to the value. It differs from `typeTagToText` in function
 * types: `|u8,&u64|bool` without blanks, without brackets around the results, and without abilities.
 */
export function resourceTypeToText({ address, module, name, typeArguments }: StructTag): string {
  const base = `${addressToShortHex(address)}::${module}::${name}`
  return typeArguments.length === 0 ? base : `${base}<${typeArguments.map(moveTypeToText).join(', ')}>`
}

/** Text of any type, in the form of `resourceTypeToText`. */
export function moveTypeToText(tag: TypeTag): string {
  switch (tag.kind) {
    case 'vector':
      return `vector<${moveTypeToText(tag.element)}>`
    case 'struct':
      return resourceTypeToText(tag)
    case 'function':
      return `|${slotsToText(tag.parameters)}|${slotsToText(tag.results)}`
    default:
      return tag.kind
  }
}

const PASSING_PREFIX = { reference: '&', mutableReference: '&mut ', value: '' } as const

function slotsToText(slots: readonly FunctionSlot[]): string {
  return slots.map(({ passing, type }) => PASSING_PREFIX[passing] + moveTypeToText(type)).join(',')
}
