import { useState } from 'preact/hooks'
import type { Block, WholeTransaction } from '../api/answers.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { AddressLink, shortAddress } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { LongList } from '../components/long-list.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { groupDigits } from '../state/amount.ts'
import { countText } from '../state/count-text.ts'
import { memberOf } from '../state/member-of.ts'
import { useAnswer } from '../state/use-answer.ts'
import { BlockChanges } from './block-changes.tsx'

/** Transactions of a page. Each has its events and changes, so a page of more would be large. */
const PAGE = 20n
const ROW_HEIGHT = 56

/** The transactions of a block, or its changes if the node keeps no transactions. */
export function BlockContents({ block }: { readonly block: Block }) {
  const [first, last] = [BigInt(block.first_version), BigInt(block.last_version)]
  const [start, setStart] = useState(first)
  const limit = last - start + 1n < PAGE ? last - start + 1n : PAGE
  const answer = useAnswer<readonly WholeTransaction[]>({
    path: `/transactions?start=${start}&limit=${limit}`,
    at: block.last_version,
  })
  if (answer === undefined) return <Loading />
  if ('failure' in answer) {
    if (answer.failure.isSwitchedOff) return <BlockChanges block={block} />
    return <FailureNotice failure={answer.failure} />
  }
  const shown = answer.value
  return (
    <section aria-label="Transactions">
      <h2>{countText(Number(last - first + 1n), 'transaction')}</h2>
      <LongList
        label="Transactions of the block"
        class="transactions"
        count={shown.length}
        rowHeight={ROW_HEIGHT}
        row={(at) => <TransactionRow transaction={shown[at]!} />}
      />
      {last - first >= PAGE && (
        <p class="inline">
          <button type="button" disabled={start === first} onClick={() => setStart(start - PAGE)}>
            Earlier
          </button>
          <button type="button" disabled={start + PAGE > last} onClick={() => setStart(start + PAGE)}>
            Later
          </button>
        </p>
      )}
    </section>
  )
}

function TransactionRow({ transaction }: { readonly transaction: WholeTransaction }) {
  const { version, type, hash, success, vm_status: status } = transaction
  const [isOpened, setOpened] = useState(false)
  const sender = memberOf(transaction, ['sender'])
  const called = memberOf(transaction, ['payload', 'function'])
  return (
    <details class="card" onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary>
        version {groupDigits(version)} <small>{type.replaceAll('_', ' ')}</small>{' '}
        <small class={success ? 'rise' : 'fall'}>{success ? 'succeeded' : `failed: ${status}`}</small>
        <br />
        <small>
          <code title={hash}>{shortAddress(hash)}</code>
          {called !== undefined && (
            <>
              {' '}
              calls <bdi class="type">{shortCall(called)}</bdi>
            </>
          )}
        </small>
      </summary>
      {sender !== undefined && (
        <p>
          sent by <AddressLink address={sender} />
        </p>
      )}
      {isOpened && <ValueTree value={transaction} openDepth={1} />}
    </details>
  )
}

function shortCall(name: string): string {
  const [address = '', ...more] = name.split('::')
  return [shortAddress(address), ...more].join('::').slice(0, 120)
}
