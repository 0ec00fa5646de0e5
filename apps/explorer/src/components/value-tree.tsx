import { useState } from 'preact/hooks'
import { FIRST_MEMBERS, openDepthOf } from '../state/open-depth.ts'
import { type Amounts, amountAt } from '../state/use-amounts.ts'
import { AddressLink, Link, shortAddress } from './link.tsx'
import { LongList } from './long-list.tsx'
import { cutText, LongText } from './long-text.tsx'

/** An address as answers write it: without leading zeros, or with all digits. */
const ADDRESS = /^0x(?:[1-9a-f][0-9a-f]{2,62}|[0-9a-f]{64})$/
/** Names of members whose value looks like an address, and is the hash of something. */
const HASH_NAME = /(?:^|_)hash$/
const ROW_HEIGHT = 26

interface ValueTreeProps {
  readonly value: unknown
  readonly depth?: number
  /** Account that holds the value. Its tables are linked with this account, which shows their types. */
  readonly holder?: string | undefined
  readonly amounts?: Amounts | undefined
  /** Path to this value from the value that `amounts` are about. */
  readonly path?: string
  /** Depth down to which members are open from the start; by default as `openDepthOf` says. */
  readonly openDepth?: number
}

/** A value of the ledger as a tree. All contents are shown as text. */
export function ValueTree({ value, depth = 0, holder, amounts, path = '', openDepth }: ValueTreeProps) {
  if (value === null) return <span class="value-null">null</span>
  if (typeof value === 'string') {
    const amount = amountAt(amounts, path, value)
    return amount === undefined ? (
      <TextValue text={value} />
    ) : (
      <AmountValue units={value} amount={amount} symbol={amounts!.facts!.symbol} />
    )
  }
  if (typeof value !== 'object') return <span class="value-number">{String(value)}</span>
  const entries: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((member, at) => [String(at), member] as const)
    : Object.entries(value)
  if (entries.length === 0) return <span class="value-null">{Array.isArray(value) ? '[ ]' : '{ }'}</span>
  const place = { depth, holder, amounts, path, openDepth: openDepth ?? openDepthOf(value, depth) }
  return <Members entries={entries} isList={Array.isArray(value)} {...place} />
}

/** Properties that members inherit from their value. */
type Place = Required<Omit<ValueTreeProps, 'value'>>

interface MembersProps extends Place {
  readonly entries: readonly (readonly [string, unknown])[]
  readonly isList: boolean
}

function Members({ entries, isList, ...place }: MembersProps) {
  const [isOpen, setOpen] = useState(place.depth < place.openDepth)
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
            <Member entry={entries[at]!} {...place} />
          </dl>
        )}
      />
    )
  }
  return (
    <>
      <dl class="members">
        {entries.slice(0, FIRST_MEMBERS).map((entry) => (
          <Member key={entry[0]} entry={entry} {...place} />
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

interface MemberProps extends Place {
  readonly entry: readonly [name: string, value: unknown]
}

function Member({ entry: [name, value], depth, holder, amounts, path, openDepth }: MemberProps) {
  return (
    <div class="member">
      <dt>{cutText(name)}</dt>
      <dd>
        {name === 'handle' && typeof value === 'string' && ADDRESS.test(value) ? (
          <Link view={{ name: 'table', handle: value, types: { holder } }} title={`table ${value}`}>
            table <code>{shortAddress(value)}</code>
          </Link>
        ) : HASH_NAME.test(name) && typeof value === 'string' ? (
          <LongText text={value} />
        ) : (
          <ValueTree
            value={value}
            depth={depth + 1}
            holder={holder}
            amounts={amounts}
            path={path === '' ? name : `${path}.${name}`}
            openDepth={openDepth}
          />
        )}
      </dd>
    </div>
  )
}

interface AmountValueProps {
  readonly units: string
  readonly amount: string
  readonly symbol: string
}

function AmountValue({ units, amount, symbol }: AmountValueProps) {
  return (
    <>
      <span class="value-text">{units}</span>{' '}
      <small class="in-units">
        {amount} <bdi>{symbol}</bdi>
      </small>
    </>
  )
}

function TextValue({ text }: { readonly text: string }) {
  return ADDRESS.test(text) ? <AddressLink address={text} /> : <LongText text={text} />
}
