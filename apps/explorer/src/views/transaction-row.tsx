import { useState } from 'preact/hooks'
import type { WholeTransaction } from '../api/answers.ts'
import { AddressLink, shortAddress } from '../components/link.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { groupDigits } from '../state/amount.ts'
import { memberOf } from '../state/member-of.ts'

/** Height of a folded row, in pixels. */
export const TRANSACTION_ROW_HEIGHT = 56

interface TransactionRowProps {
  readonly transaction: WholeTransaction
  /** Whether it is unfolded from the beginning. */
  readonly isChosen?: boolean
}

/** A transaction of a list. It shows all of it once it is unfolded. */
export function TransactionRow({ transaction, isChosen = false }: TransactionRowProps) {
  const { version, type, hash, success, vm_status: status } = transaction
  const [isOpened, setOpened] = useState(isChosen)
  const sender = memberOf(transaction, ['sender'])
  const called = memberOf(transaction, ['payload', 'function'])
  return (
    <details class="card" open={isChosen} onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary>
        version {groupDigits(version)} <small>{type.replaceAll('_', ' ')}</small>{' '}
        <small class={success ? 'rise' : 'fall'}>{success ? 'succeeded' : `failed: ${status}`}</small>
        <br />
        <small>
          <code title={hash}>{shortAddress(hash)}</code>
          {sender !== undefined && (
            <>
              {' '}
              of <code title={sender}>{shortAddress(sender)}</code>
            </>
          )}
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
