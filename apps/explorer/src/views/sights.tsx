import { useEffect, useState } from 'preact/hooks'
import type { StateHead } from '../api/state-head.ts'
import { Link, shortAddress } from '../components/link.tsx'
import { formatAmount, groupDigits } from '../state/amount.ts'
import { type LedgerSights, loadSights, RECENT_VERSIONS } from '../state/ledger-sights.ts'

/** Accounts, tables and assets of this ledger, as far as a few requests find them. Empty parts are left out. */
export function Sights({ head }: { readonly head: StateHead }) {
  const [sights, setSights] = useState<LedgerSights | undefined>(undefined)
  useEffect(() => {
    const stop = new AbortController()
    loadSights(head, stop.signal)
      .then(setSights)
      .catch(() => {})
    return () => stop.abort()
  }, [])
  if (!sights) return null
  const { accounts, tables, assets } = sights
  return (
    <>
      {accounts.length > 0 && (
        <section aria-labelledby="accounts">
          <h2 id="accounts">Accounts</h2>
          <ul class="tiles">
            {accounts.map(({ address, changes, sent }) => (
              <li key={address}>
                <Link view={{ name: 'account', address, tab: changes > 0 ? 'changes' : 'balances' }} title={address}>
                  <code>{shortAddress(address)}</code>
                  <small>
                    {changes > 0
                      ? `${changes} changes in ${groupDigits(String(RECENT_VERSIONS))} versions`
                      : `sent ${groupDigits(sent)} transactions`}
                  </small>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {tables.length > 0 && (
        <section aria-labelledby="tables">
          <h2 id="tables">Tables</h2>
          <ul class="tiles">
            {tables.map(({ handle, holder, member }) => (
              <li key={handle}>
                <Link view={{ name: 'table', handle, types: { holder } }} title={handle}>
                  <bdi>{member.split('::').slice(1).join('::')}</bdi>
                  <small>
                    of {shortAddress(holder)}, table {shortAddress(handle)}
                  </small>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {assets.length > 0 && (
        <section aria-labelledby="assets">
          <h2 id="assets">Assets</h2>
          <ul class="tiles">
            {assets.map(({ asset, name, symbol, decimals, supply }) => (
              <li key={asset}>
                <Link view={{ name: 'asset', asset }} title={asset}>
                  <bdi>{name === '' ? asset : name}</bdi>
                  <small>
                    <bdi>{symbol}</bdi>
                    {asset.includes('::') ? ', a coin' : ', a fungible asset'}
                    {supply === undefined ? '' : `, supply ${formatAmount(supply, decimals)}`}
                  </small>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}
