import type { KeptTransaction } from '../api/answers.ts'
import { transactionHref } from '../api/network-name.ts'
import { newest } from '../state/ledger.ts'
import { AddressLink, Link, shortAddress } from './link.tsx'

/**
 * The transaction that made a change, if the node knows it: its hash, its sender, the function it called, and whether
 * it failed.
 */
export function TransactionFacts({ transaction }: { readonly transaction: KeptTransaction | undefined }) {
  if (!transaction) return null
  const { hash, type, success, sender, function: called } = transaction
  const href = newest.value && transactionHref(newest.value.chainId, hash)
  const short = <code title={hash}>{shortAddress(hash)}</code>
  return (
    <small class="transaction">
      {success ? '' : 'failed '}
      {type.replaceAll('_', ' ')}{' '}
      {href === undefined ? (
        short
      ) : (
        <a href={href} rel="noreferrer">
          {short}
        </a>
      )}
      {sender !== null && (
        <>
          {' '}
          of <AddressLink address={sender} />
        </>
      )}
      {called !== null && (
        <>
          {' '}
          · <FunctionLink name={called} />
        </>
      )}
    </small>
  )
}

/** A function, with a link to the module that declares it. */
function FunctionLink({ name }: { readonly name: string }) {
  const [address = '', module = '', called = ''] = name.split('::')
  return (
    <Link view={{ name: 'module', address, module }} title={name}>
      <bdi class="type">{`${shortAddress(address)}::${module}::${called}`}</bdi>
    </Link>
  )
}
