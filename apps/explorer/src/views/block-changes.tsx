import { useEffect, useState } from 'preact/hooks'
import type { Block } from '../api/answers.ts'
import { ChangeCard } from '../components/change-card.tsx'
import { Differences } from '../components/differences.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { AddressLink, Link, shortAddress } from '../components/link.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import {
  BlockChangesSearch,
  type BlockSearch,
  type ChangedAccount,
  type ChangedTable,
  MOST_ITEMS,
} from '../state/block-search.ts'
import { countText } from '../state/count-text.ts'
import { newest } from '../state/ledger.ts'

/**
 * The changes of a block, with the values before and after. A store without its transactions has no list of them, so the
 * accounts are compared one by one, some at first and more on request.
 */
export function BlockChanges({ block }: { readonly block: Block }) {
  const before = BigInt(block.first_version) - 1n
  const oldest = newest.value?.oldestVersion
  if (before < 0n) return <p class="empty">Everything in the first block is new: look at the state after it.</p>
  if (oldest !== undefined && before < BigInt(oldest)) {
    return <p class="empty">The state before this block is no longer kept, so its changes are unknown.</p>
  }
  return <ComparedAccounts key={block.block_height} before={String(before)} after={block.last_version} />
}

interface Range {
  readonly before: string
  readonly after: string
}

function ComparedAccounts({ before, after }: Range) {
  const [search, setSearch] = useState<BlockSearch | undefined>(undefined)
  const [run] = useState(() => new BlockChangesSearch({ before, after }, setSearch))
  useEffect(() => {
    run.more()
    return () => run.stop()
  }, [])
  if (!search) return null
  const { accounts, tables, isRunning, isEnded, failure } = search
  return (
    <section aria-label="Changed values" aria-busy={isRunning}>
      <h2>Changed values</h2>
      <p class="hint">
        This node does not keep the transactions of this block, so the page compares the state before and after it.
      </p>
      <p class="hint" role="status">
        {progressText(search)}
      </p>
      {accounts.map((one) => (
        <AccountPart key={one.address} account={one} />
      ))}
      {tables.map((one) => (
        <TablePart key={one.handle} table={one} />
      ))}
      {failure && <FailureNotice failure={failure} />}
      {!isEnded && !isRunning && (
        <button type="button" onClick={() => run.more()}>
          Compare more accounts
        </button>
      )}
      {!isRunning && <p class="hint">{scopeText(search)}</p>}
    </section>
  )
}

/** One text that fits on a line of a phone, so that nothing moves while it changes. */
function progressText({ compared, comparedTables, isRunning }: BlockSearch): string {
  const counts = `${countText(compared, 'address')}, ${countText(comparedTables.count, 'table')}`
  return `Compared: ${counts}${isRunning ? '…' : '.'}`
}

const SCOPES = {
  all: 'The page compared every account and every object that is there before or after the block.',
  some: 'The page compared the framework, holders of tables, and the first accounts and objects by address.',
}
const SCOPES_OF_SLICE = {
  all: 'The node keeps a part of the ledger; the page compared every member that it knows completely.',
  some: 'The node keeps a part of the ledger; the page compared its first members by address.',
}

/** The compared part of the state, and the rest. */
function scopeText(search: BlockSearch): string {
  const { accounts, tables, comparedTables, isSlice, unknown, isEnded, failure } = search
  const { count, inPart } = comparedTables
  const isSame = accounts.length === 0 && (!isSlice || tables.length === 0)
  const sentences = [
    (isSlice ? SCOPES_OF_SLICE : SCOPES)[isEnded ? 'all' : 'some'],
    isSame && 'None of them changed.',
    unknown > 0 && `The changes of ${countText(unknown, 'other')} are unknown.`,
    inPart > 0 &&
      `It compared only the first ${MOST_ITEMS} items of ${inPart === count ? 'each table' : countText(inPart, 'table')}.`,
    failure && 'The node did not list or answer some tables.',
    !isSlice && 'Changes of other tables are not shown.',
  ]
  return sentences.filter(Boolean).join(' ')
}

function AccountPart({ account: { address, changes, isCut } }: { readonly account: ChangedAccount }) {
  return (
    <section class="card" aria-label={`account ${address}`}>
      <h3 class="card-title">
        account <AddressLink address={address} /> <small>{countText(changes.length, 'changed value')}</small>
      </h3>
      {changes.map((change, at) => (
        <ChangeCard key={at} address={address} change={change} />
      ))}
      {isCut && <p class="hint">There are more; the changes of the account have all of them.</p>}
    </section>
  )
}

function TablePart({ table: { handle, types, items } }: { readonly table: ChangedTable }) {
  const { holder } = types
  return (
    <section class="card" aria-label={`table ${handle}`}>
      <h3 class="card-title">
        table{' '}
        <Link view={{ name: 'table', handle, types }} title={handle}>
          <code>{shortAddress(handle)}</code>
        </Link>{' '}
        <small>
          {holder !== undefined && `of ${shortAddress(holder)}, `}
          {countText(items.length, 'changed item')}
        </small>
      </h3>
      {items.map(({ key, before, after }) => (
        <article key={JSON.stringify(key)} class="card">
          <ValueTree value={key} depth={2} />
          {before === undefined || after === undefined ? (
            <>
              <h3>{before === undefined ? 'created' : 'deleted'}</h3>
              <ValueTree value={after ?? before} holder={holder} />
            </>
          ) : (
            <Differences before={before} after={after} amounts={undefined} />
          )}
        </article>
      ))}
    </section>
  )
}
