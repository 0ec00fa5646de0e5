/** A Move type, split into the text before the `<` and its type arguments. */
export interface MoveType {
  readonly text: string
  readonly name: string
  readonly parameters: readonly MoveType[]
}

/** Longest type that is taken apart: the work grows with its length times its depth. */
const MOST_CHARACTERS = 10_000

export function parseMoveType(text: string): MoveType {
  const trimmed = text.trim()
  const open = trimmed.indexOf('<')
  if (trimmed.length > MOST_CHARACTERS || open < 0 || !trimmed.endsWith('>'))
    return { text: trimmed, name: trimmed, parameters: [] }
  const inner = trimmed.slice(open + 1, -1)
  return { text: trimmed, name: trimmed.slice(0, open), parameters: splitParameters(inner).map(parseMoveType) }
}

const PLAIN = /^(?:bool|address|signer|[iu](?:8|16|32|64|128|256))$/
const STRUCT = /^(?:0x)?[0-9a-f]{1,64}::[a-z_]\w*::[a-z_]\w*$/i

/** Whether a text looks like a type. The node decides: it alone knows the modules. */
export function isMoveType({ text, name, parameters }: MoveType): boolean {
  // Types of functions are left to the node.
  if (text.includes('|')) return true
  const trimmed = name.trim()
  if (PLAIN.test(trimmed)) return parameters.length === 0
  if (trimmed === 'vector' ? parameters.length !== 1 : !STRUCT.test(trimmed)) return false
  return parameters.every(isMoveType)
}

/** Splits a text at the commas outside of angle brackets. */
function splitParameters(text: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (letter === '<') depth++
    else if (letter === '>') depth--
    else if (letter === ',' && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)]
}

/** The type of a field, with the type arguments of its struct instead of `T0`, `T1`, … */
export function withArguments(field: string, parameters: readonly MoveType[]): string {
  return field.replace(/\bT(\d+)\b/g, (all, at: string) => parameters[Number(at)]?.text ?? all)
}
