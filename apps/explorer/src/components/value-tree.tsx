import { useState } from 'preact/hooks'
import { AddressLink, Link, shortAddress } from './link.tsx'

/** As answers write them: without leading zeros, or whole. */
const ADDRESS = /^0x(?:[1-9a-f][0-9a-f]{2,62}|[0-9a-f]{64})$/
/** Longer texts are cut, with a button for the rest. */
const SHORT_TEXT = 200
/** Members of a list that are shown before somebody asks for more. */
const FIRST_MEMBERS = 50
/** Below this depth members are shown once they are opened. */
const OPEN_DEPTH = 3

interface ValueTreeProps {
  readonly value: unknown
  readonly depth?: number
  /** The account that holds the value: its tables are read with their types. */
  readonly holder?: string | undefined
}

/** A value of the ledger as a tree. Whatever it holds is shown as text. */
export function ValueTree({ value, depth = 0, holder }: ValueTreeProps) {
  if (value === null) return <span class="value-null">null</span>
  if (typeof value === 'string') return <TextValue text={value} />
  if (typeof value !== 'object') return <span class="value-number">{String(value)}</span>
  const entries: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((member, at) => [String(at), member] as const)
    : Object.entries(value)
  if (entries.length === 0) return <span class="value-null">{Array.isArray(value) ? '[ ]' : '{ }'}</span>
  return <Members entries={entries} isList={Array.isArray(value)} depth={depth} holder={holder} />
}

interface MembersProps {
  readonly entries: readonly (readonly [string, unknown])[]
  readonly isList: boolean
  readonly depth: number
  readonly holder: string | undefined
}

function Members({ entries, isList, depth, holder }: MembersProps) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH)
  const [shown, setShown] = useState(FIRST_MEMBERS)
  const label = `${entries.length} ${isList ? 'member' : 'field'}${entries.length === 1 ? '' : 's'}`
  if (!isOpen) {
    return (
      <button type="button" class="fold" aria-expanded="false" onClick={() => setOpen(true)}>
        {label}
      </button>
    )
  }
  return (
    <dl class="members">
      {entries.slice(0, shown).map(([name, member]) => (
        <div key={name} class="member">
          <dt>{name}</dt>
          <dd>
            {name === 'handle' && typeof member === 'string' && ADDRESS.test(member) ? (
              <Link view={{ name: 'table', handle: member, types: { holder } }} title={`table ${member}`}>
                table <code>{shortAddress(member)}</code>
              </Link>
            ) : (
              <ValueTree value={member} depth={depth + 1} holder={holder} />
            )}
          </dd>
        </div>
      ))}
      {entries.length > shown && (
        <button type="button" class="fold" onClick={() => setShown(shown * 4)}>
          {entries.length - shown} more
        </button>
      )}
    </dl>
  )
}

function TextValue({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  if (ADDRESS.test(text)) return <AddressLink address={text} />
  if (text.length <= SHORT_TEXT || isWhole) return <bdi class="value-text">{text}</bdi>
  return (
    <span>
      <bdi class="value-text">{text.slice(0, SHORT_TEXT)}…</bdi>{' '}
      <button type="button" class="fold" onClick={() => setWhole(true)}>
        all {text.length} characters
      </button>
    </span>
  )
}
