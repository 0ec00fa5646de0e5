import type { CompiledPrinter, JsonPrinter, StructMembers } from './compiled-printer.js'
import { WORD } from './json-text-writer.js'

/** Most values of a struct that is printed in one loop. A part that is used in several places counts in each. */
const MOST_VALUES = 16
/** Most bytes of the texts of such a struct: names may have tens of thousands of characters. */
const MOST_TEXT_BYTES = 512

/** The values of a struct and of the structs in it, in the order in which they are printed. */
interface FlatValues {
  readonly print: readonly JsonPrinter[]
  /** Offset of each value in the bytes. */
  readonly offsets: readonly number[]
  /** The texts before each value, and the text after the last one, one after the other. */
  readonly texts: DataView
  /** Where each text ends. */
  readonly ends: readonly number[]
}

/**
 * The printer of a value that is not part of a struct of fixed size. If it is such a struct, its values and those of the
 * structs in it are printed in one loop, and the texts between two values are one.
 */
export function wholePrinter(compiled: CompiledPrinter): JsonPrinter {
  const { members, minimumSize, print } = compiled
  if (!members) return print
  compiled.whole ??= flatPrinter(members, minimumSize, print)
  return compiled.whole
}

/** @param printEach prints a struct that is cut short, or has a value that is refused, field by field, for its error */
function flatPrinter(members: StructMembers, size: number, printEach: JsonPrinter): JsonPrinter {
  let flat: FlatValues | undefined
  let unread: StructMembers | undefined = members
  return (reader, out) => {
    const base = reader.offset
    if (unread) {
      flat = flatten(unread)
      unread = undefined
    }
    if (!flat || reader.remaining < size) {
      printEach(reader, out)
      return
    }
    const start = out.length
    const { print, offsets, texts, ends } = flat
    const count = print.length
    try {
      let from = 0
      for (let at = 0; at < count; at++) {
        const to = ends[at]!
        out.part(texts, from, to)
        from = to
        reader.offset = base + offsets[at]!
        print[at]!(reader, out)
      }
      out.part(texts, from, ends[count]!)
      reader.offset = base + size
    } catch {
      out.length = start
      reader.offset = base
      printEach(reader, out)
    }
  }
}

/** Undefined if the struct has too many values or too much text. */
function flatten(members: StructMembers): FlatValues | undefined {
  const print: JsonPrinter[] = []
  const offsets: number[] = []
  const texts: number[] = []
  const ends: number[] = []
  const addText = (text: Uint8Array): boolean => {
    if (texts.length + text.length > MOST_TEXT_BYTES) return false
    for (const byte of text) texts.push(byte)
    return true
  }
  const add = ({ compiled, order, before, end }: StructMembers, base: number): boolean => {
    const starts: number[] = []
    let next = base
    for (const { minimumSize } of compiled) {
      starts.push(next)
      next += minimumSize
    }
    for (const [place, index] of order.entries()) {
      if (!addText(before[place]!)) return false
      const field = compiled[index]!
      if (field.members) {
        if (!add(field.members, starts[index]!)) return false
        continue
      }
      if (print.length === MOST_VALUES) return false
      print.push(field.print)
      offsets.push(starts[index]!)
      ends.push(texts.length)
    }
    return addText(end)
  }
  if (!add(members, 0)) return undefined
  ends.push(texts.length)
  const bytes = new Uint8Array(texts.length + WORD)
  bytes.set(texts)
  return { print, offsets, texts: new DataView(bytes.buffer), ends }
}
