import { isJsonObject, JsonNumber, type JsonValue } from '@ledger-state/bcs'
import { clip } from '@ledger-state/core'

const LONGEST = 500
const MOST_SHOWN = 32

/** Formats JSON values as a message of the reference does: `[String("0x1"), Number(7)]`. Long values are cut short. */
export function jsonValuesToDebugText(values: readonly JsonValue[]): string {
  return clip(`[${values.slice(0, MOST_SHOWN).map(debugText).join(', ')}]`, LONGEST)
}

function debugText(value: JsonValue): string {
  if (value === null) return 'Null'
  if (typeof value === 'boolean') return `Bool(${value})`
  if (typeof value === 'string') return `String(${JSON.stringify(clip(value, LONGEST))})`
  if (value instanceof JsonNumber) return `Number(${clip(value.text, LONGEST)})`
  if (isJsonObject(value)) {
    const members: string[] = []
    for (let member = value.first; member && members.length < MOST_SHOWN; member = member.next) {
      members.push(`${JSON.stringify(member.name)}: ${debugText(member.value)}`)
    }
    return `Object {${members.join(', ')}}`
  }
  return `Array [${(value as readonly JsonValue[]).slice(0, MOST_SHOWN).map(debugText).join(', ')}]`
}
