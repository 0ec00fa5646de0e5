import { useState } from 'preact/hooks'
import { AddressLink, Link, shortAddress } from './link.tsx'
import { LongList } from './long-list.tsx'

/** As answers write them: without leading zeros, or whole. */
const ADDRESS = /^0x(?:[1-9a-f][0-9a-f]{2,62}|[0-9a-f]{64})$/
/** Longer texts are cut, with a button for the rest. */
const SHORT_TEXT = 200
/** Members that are shown before somebody asks for all. */
const FIRST_MEMBERS = 50
const ROW_HEIGHT = 26
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
  const [isWhole, setWhole] = useState(false)
  const label = `${entries.length} ${isList ? 'member' : 'field'}${entries.length === 1 ? '' : 's'}`
  if (!isOpen) {
    return (
      <button type="button" class="fold" aria-expanded="false" onClick={() => setOpen(true)}>
        {label}
      </button>
    )
  }
  if (isWhole) {
    return (
      <LongList
        label={label}
        count={entries.length}
        rowHeight={ROW_HEIGHT}
        isBoxed
        row={(at) => (
          <dl class="members">
            <Member entry={entries[at]!} depth={depth} holder={holder} />
          </dl>
        )}
      />
    )
  }
  return (
    <>
      <dl class="members">
        {entries.slice(0, FIRST_MEMBERS).map((entry) => (
          <Member key={entry[0]} entry={entry} depth={depth} holder={holder} />
        ))}
      </dl>
      {entries.length > FIRST_MEMBERS && (
        <button type="button" class="fold" onClick={() => setWhole(true)}>
          all {label}
        </button>
      )}
    </>
  )
}

interface MemberProps {
  readonly entry: readonly [name: string, value: unknown]
  readonly depth: number
  readonly holder: string | undefined
}

function Member({ entry: [name, value], depth, holder }: MemberProps) {
  return (
    <div class="member">
      <dt>{name}</dt>
      <dd>
        {name === 'handle' && typeof value === 'string' && ADDRESS.test(value) ? (
          <Link view={{ name: 'table', handle: value, types: { holder } }} title={`table ${value}`}>
            table <code>{shortAddress(value)}</code>
          </Link>
        ) : (
          <ValueTree value={value} depth={depth + 1} holder={holder} />
        )}
      </dd>
    </div>
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
