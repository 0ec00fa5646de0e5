import { useState } from 'preact/hooks'
import type { ModuleAnswer } from '../api/answers.ts'
import { type ReadText, readJson, textReaderOf } from '../state/argument-text.ts'
import { route } from '../state/location.ts'
import { type MoveType, parseMoveType, withArguments } from '../state/move-type.ts'
import { useAnswer } from '../state/use-answer.ts'
import { cutText } from './long-text.tsx'
import { Problem, useProblem } from './problem.tsx'

/** Values in the fields of a struct, each as JSON. */
type Written = Readonly<Record<string, string>>

interface FieldProps {
  readonly label: string
  readonly type: MoveType
  /** Called with the value as JSON, or undefined while the text is not a value. */
  readonly onJson: (json: string | undefined) => void
  /** Whether the visitor has tried to send the form: then a field names the missing part. */
  readonly isTried: boolean
  /** Number of structs around the value. */
  readonly depth?: number
}

/** Most levels of structs that get a field for each of their members, and most members at each level. */
const MOST_FIELDS = [30, 10]

/** A field of a form, or several, for a value of a Move type. */
export function TypeField({ label, type, onJson, isTried, depth = 0 }: FieldProps) {
  const plain = { label, type, onJson, isTried }
  if (type.name === 'bool') return <BooleanField {...plain} />
  const read = textReaderOf(type.name)
  if (read) return <TextField {...plain} read={read} />
  if (type.name.includes('::') && depth < MOST_FIELDS.length) return <StructField {...plain} depth={depth} />
  return <JsonField {...plain} />
}

function TextField({ label, type, onJson, isTried, read }: FieldProps & { readonly read: (text: string) => ReadText }) {
  const { problem, write, leave } = useProblem(read, isTried, onJson)
  return (
    <Problem text={problem}>
      {(described) => (
        <label>
          {label}: {cutText(type.text)}
          <input
            type="text"
            autocomplete="off"
            {...described}
            onInput={(event) => write(event.currentTarget.value)}
            onBlur={leave}
          />
        </label>
      )}
    </Problem>
  )
}

function BooleanField({ label, type, onJson, isTried }: FieldProps) {
  const { problem, write } = useProblem(readChoice, isTried, onJson)
  return (
    <Problem text={problem}>
      {(described) => (
        <label>
          {label}: {cutText(type.text)}
          <select {...described} onInput={(event) => write(event.currentTarget.value)}>
            <option value="">choose</option>
            <option value="true">true</option>
            <option value="false">false</option>
          </select>
        </label>
      )}
    </Problem>
  )
}

function readChoice(text: string): ReadText {
  return text === '' ? { problem: 'A choice is missing.' } : { json: text }
}

function JsonField({ label, type, onJson, isTried }: FieldProps) {
  const { problem, write, leave } = useProblem(readJson, isTried, onJson)
  return (
    <Problem text={problem}>
      {(described) => (
        <label>
          {label}: {cutText(type.text)}, as JSON
          <textarea {...described} onInput={(event) => write(event.currentTarget.value)} onBlur={leave} />
        </label>
      )}
    </Problem>
  )
}

/**
 * The fields of a struct, which its module's ABI lists. The ABI lacks variants of enums, so an enum is written as JSON.
 */
function StructField({ label, type, onJson, isTried, depth = 0 }: FieldProps) {
  const [account, module, name] = type.name.split('::') as [string, string, string]
  const path = `/accounts/${account}/module/${encodeURIComponent(module)}`
  const answer = useAnswer<ModuleAnswer>({ path, at: route.value.at })
  const [written, setWritten] = useState<Written>({})
  if (answer === undefined) return <p class="loading">{label}…</p>
  const struct = 'value' in answer ? answer.value.abi?.structs.find((one) => one.name === name) : undefined
  if (!struct || struct.is_enum || struct.fields.length === 0 || struct.fields.length > MOST_FIELDS[depth]!)
    return <JsonField label={label} type={type} onJson={onJson} isTried={isTried} />
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
          isTried={isTried}
          depth={depth + 1}
        />
      ))}
    </fieldset>
  )
}
