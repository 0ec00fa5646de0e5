import type { AccountChange } from '../api/answers.ts'
import { groupDigits } from '../state/amount.ts'
import { useAmounts } from '../state/use-amounts.ts'
import { Differences } from './differences.tsx'
import { AddressLink, Link } from './link.tsx'
import { NameParts } from './name-parts.tsx'
import { TransactionFacts } from './transaction-facts.tsx'
import { ValueTree } from './value-tree.tsx'

/** A resource or module that differs between two versions, with its values before and after. */
export function ChangeCard({ address, change }: { readonly address: string; readonly change: AccountChange }) {
  const { type, module, before, after, before_error, after_error, asset, last_write } = change
  const holder = change.address ?? address
  const isReadable = !before_error && !after_error
  const amounts = useAmounts(type, holder, after ?? before)
  return (
    <article class="card">
      <h2 class="card-title">
        <Link
          view={
            type === undefined
              ? { name: 'module', address, module: module ?? '' }
              : { name: 'resource', address: holder, type }
          }
        >
          <bdi class="type">
            <NameParts name={type ?? `module ${module}`} />
          </bdi>
        </Link>{' '}
        <small>
          {before === null ? 'created' : after === null ? 'deleted' : 'changed'}
          {asset !== undefined && (
            <>
              {' '}
              in its store of <AddressLink address={asset} />
            </>
          )}
        </small>
      </h2>
      {last_write?.transaction && (
        <p>
          <small>last written at version {groupDigits(last_write.version)} by </small>
          <TransactionFacts transaction={last_write.transaction} />
        </p>
      )}
      {before_error && <p>Before, it cannot be read: {before_error.message}</p>}
      {after_error && <p>After, it cannot be read: {after_error.message}</p>}
      {isReadable && before !== null && after !== null ? (
        <Differences before={before} after={after} amounts={amounts} />
      ) : (
        (after ?? before) !== undefined && <ValueTree value={after ?? before} holder={holder} amounts={amounts} />
      )}
    </article>
  )
}
