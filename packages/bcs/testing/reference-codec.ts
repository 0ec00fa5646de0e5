import type { Layout, LayoutField } from '../src/layout/layout.ts'

/**
 * Prints a value as JSON: a second reader of BCS for tests, simple, slow, and written only from the table of formats.
 * It builds a tree and prints it by JSON.stringify. Undefined if the bytes are not a value of the layout.
 */
export function referenceBytesToJson(layout: Layout, bytes: Uint8Array): string | undefined {
  const state = { rest: [...bytes] }
  try {
    const tree = read(layout, state)
    return state.rest.length === 0 ? JSON.stringify(tree) : undefined
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

class Refusal extends Error {}

interface State {
  rest: number[]
}

function take(state: State, count: number): number[] {
  if (count > state.rest.length) throw new Refusal()
  const taken = state.rest.slice(0, count)
  state.rest = state.rest.slice(count)
  return taken
}

function integer(state: State, bytes: number, signed: boolean): bigint {
  const value = take(state, bytes).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n)
  return signed && value >= 2n ** BigInt(bytes * 8 - 1) ? value - 2n ** BigInt(bytes * 8) : value
}

function uleb(state: State): number {
  let value = 0n
  for (let place = 0n; ; place += 7n) {
    const byte = BigInt(take(state, 1)[0]!)
    value += (byte % 128n) << place
    if (byte < 128n) {
      if (value > 0xffff_ffffn || (place > 0n && byte === 0n)) throw new Refusal()
      return Number(value)
    }
    if (place > 28n) throw new Refusal()
  }
}

function hex(bytes: number[]): string {
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function list<T>(count: number, item: () => T): T[] {
  const items: T[] = []
  for (let at = 0; at < count; at++) items.push(item())
  return items
}

function sortedObject(entries: [string, unknown][]): unknown {
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function readFields(fields: readonly LayoutField[], state: State): [string, unknown][] {
  return fields.map(({ name, layout }) => [name, read(layout, state)])
}

function read(layout: Layout, state: State): unknown {
  switch (layout.kind) {
    case 'bool': {
      const [byte] = take(state, 1)
      if (byte! > 1) throw new Refusal()
      return byte === 1
    }
    case 'u8':
      return Number(integer(state, 1, false))
    case 'u16':
      return Number(integer(state, 2, false))
    case 'u32':
      return Number(integer(state, 4, false))
    case 'u64':
      return String(integer(state, 8, false))
    case 'u128':
      return String(integer(state, 16, false))
    case 'u256':
      return String(integer(state, 32, false))
    case 'i8':
      return Number(integer(state, 1, true))
    case 'i16':
      return Number(integer(state, 2, true))
    case 'i32':
      return Number(integer(state, 4, true))
    case 'i64':
      return String(integer(state, 8, true))
    case 'i128':
      return String(integer(state, 16, true))
    case 'i256':
      return String(integer(state, 32, true))
    case 'address':
      return hex(take(state, 32)).replace(/^0x0{1,63}/, '0x')
    case 'object':
      return { inner: hex(take(state, 32)).replace(/^0x0{1,63}/, '0x') }
    case 'string': {
      const bytes = take(state, uleb(state))
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes))
      } catch {
        return `Unparsable utf-8 ${hex(bytes)}`
      }
    }
    case 'vector': {
      const count = uleb(state)
      return layout.element.kind === 'u8' ? hex(take(state, count)) : list(count, () => read(layout.element, state))
    }
    case 'option': {
      const count = uleb(state)
      if (count > 1) throw new Refusal()
      if (layout.declaredAs === 'struct' && layout.element.kind === 'u8') return { vec: hex(take(state, count)) }
      return { vec: list(count, () => read(layout.element, state)) }
    }
    case 'map': {
      let previous: string | undefined
      return list(uleb(state), () => {
        const before = state.rest
        const key = read(layout.key, state)
        const keyHex = hex(before.slice(0, before.length - state.rest.length))
        // Hex digits sort as the bytes do, even if one text is a prefix of the other.
        if (previous !== undefined && previous >= keyHex) throw new Refusal()
        previous = keyHex
        return { key, value: read(layout.value, state) }
      })
    }
    case 'struct':
      return sortedObject(readFields(layout.fields, state))
    case 'enum': {
      const variant = layout.variants[uleb(state)]
      if (!variant) throw new Refusal()
      return sortedObject([['__variant__', variant.name], ...readFields(variant.fields, state)])
    }
    default:
      throw new Refusal()
  }
}
