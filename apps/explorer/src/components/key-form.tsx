import { useState } from 'preact/hooks'
import { parseMoveType } from '../state/move-type.ts'
import { TypeField } from './type-field.tsx'

interface KeyFormProps {
  readonly type: string
  /** Called with the key as JSON. */
  readonly onKey: (json: string) => void
}

/** A form made from the type of a key. */
export function KeyForm({ type, onKey }: KeyFormProps) {
  const [json, setJson] = useState<string | undefined>(undefined)
  const [isTried, setTried] = useState(false)
  return (
    <details class="card">
      <summary>Find one item by its key</summary>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          setTried(true)
          if (json !== undefined) onKey(json)
        }}
      >
        <TypeField label="key" type={parseMoveType(type)} onJson={setJson} isTried={isTried} />
        <button type="submit">Find</button>
      </form>
    </details>
  )
}
