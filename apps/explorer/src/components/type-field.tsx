import { useState } from 'preact/hooks'
import type { ModuleAnswer } from '../api/answers.ts'
import { route } from '../state/location.ts'
import { type MoveType, parseMoveType, withArguments } from '../state/move-type.ts'
import { useAnswer } from '../state/use-answer.ts'
import { cutText } from './long-text.tsx'

/** Values in the fields of a struct, each as JSON. */
type Written = Readonly<Record<string, string>>

interface FieldProps {
  readonly label: string
  readonly type: MoveType
  /** Called with the value as JSON, or undefined while the text is not a value. */
  readonly onJson: (json: string | undefined) => void
  /** Number of structs around the value. */
  readonly depth?: number
}

/** Most levels of structs that get a field for each of their members, and most members at each level. */
const MOST_FIELDS = [30, 10]

/** A field of a form, or several, for a value of a Move type. */
export function TypeField({ label, type, onJson, depth = 0 }: FieldProps) {
  if (type.name === 'bool') return <BooleanField label={label} type={type} onJson={onJson} />
  const toJson = PLAIN[type.name]
  if (toJson) return <TextField label={label} type={type} onJson={(text) => onJson(toJson(text))} />
  if (type.name.includes('::') && depth < MOST_FIELDS.length) {
    return <StructField label={label} type={type} onJson={onJson} depth={depth} />
  }
  return <JsonField label={label} type={type} onJson={onJson} />
}

const small = (text: string): string | undefined => (/^\d{1,10}$/.test(text) ? text : undefined)
const signed = (text: string): string | undefined => (/^-?\d{1,10}$/.test(text) ? text : undefined)
const large = (text: string): string | undefined => (/^-?\d{1,78}$/.test(text) ? JSON.stringify(text) : undefined)
const address = (text: string): string | undefined =>
  /^0x[0-9a-fA-F]{1,64}$/.test(text) ? JSON.stringify(text) : undefined

/** Types with values that fit one field; each converts a text into JSON. */
const PLAIN: Readonly<Record<string, ((text: string) => string | undefined) | undefined>> = {
  u8: small,
  u16: small,
  u32: small,
  i8: signed,
  i16: signed,
  i32: signed,
  u64: large,
  u128: large,
  u256: large,
  i64: large,
  i128: large,
  i256: large,
  address,
  '0x1::object::Object': (text) => address(text) && `{"inner":${JSON.stringify(text)}}`,
  '0x1::string::String': (text) => JSON.stringify(text),
}

function TextField({ label, type, onJson }: Omit<FieldProps, 'onJson'> & { readonly onJson: (text: string) => void }) {
  return (
    <label>
      {label}: {cutText(type.text)}
      <input type="text" autocomplete="off" onInput={(event) => onJson(event.currentTarget.value)} />
    </label>
  )
}

function BooleanField({ label, type, onJson }: FieldProps) {
  return (
    <label>
      {label}: {cutText(type.text)}
      <select onInput={(event) => onJson(event.currentTarget.value || undefined)}>
        <option value="">choose</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    </label>
  )
}

function JsonField({ label, type, onJson }: FieldProps) {
  const read = (text: string): string | undefined => {
    try {
      JSON.parse(text)
      return text
    } catch {
      return undefined
    }
  }
  return (
    <label>
      {label}: {cutText(type.text)}, as JSON
      <textarea onInput={(event) => onJson(read(event.currentTarget.value))} />
    </label>
  )
}

/**
 * The fields of a struct, which its module's ABI lists. The ABI lacks variants of enums, so an enum is written as JSON.
 */
function StructField({ label, type, onJson, depth = 0 }: FieldProps) {
  const [account, module, name] = type.name.split('::') as [string, string, string]
  const path = `/accounts/${account}/module/${encodeURIComponent(module)}`
  const answer = useAnswer<ModuleAnswer>({ path, at: route.value.at })
  const [written, setWritten] = useState<Written>({})
  if (answer === undefined) return <p class="loading">{label}…</p>
  const struct = 'value' in answer ? answer.value.abi?.structs.find((one) => one.name === name) : undefined
  if (!struct || struct.is_enum || struct.fields.length === 0 || struct.fields.length > MOST_FIELDS[depth]!)
    return <JsonField label={label} type={type} onJson={onJson} />
  const change = (field: string, json: string | undefined): void => {
    const { [field]: _, ...others } = written
    const next = json === undefined ? others : { ...others, [field]: json }
    setWritten(next)
    const members = struct.fields.map((one) => next[one.name] && `${JSON.stringify(one.name)}:${next[one.name]}`)
    onJson(members.includes(undefined) ? undefined : `{${members.join(',')}}`)
  }
  return (
    <fieldset>
      <legend>
        {label}: {cutText(type.text)}
      </legend>
      {struct.fields.map((field) => (
        <TypeField
          key={field.name}
          label={field.name}
          type={parseMoveType(withArguments(field.type, type.parameters))}
          onJson={(json) => change(field.name, json)}
          depth={depth + 1}
        />
      ))}
    </fieldset>
  )
}
