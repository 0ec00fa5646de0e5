import { useEffect, useState } from 'preact/hooks'
import type { StateHead } from '../api/state-head.ts'
import { Link, shortAddress } from '../components/link.tsx'
import { formatAmount, formatMicroseconds, groupDigits } from '../state/amount.ts'
import { countText } from '../state/count-text.ts'
import { type LedgerSights, loadSights } from '../state/ledger-sights.ts'

/** Accounts, tables, assets and blocks of this ledger, as far as a few requests find them. Empty parts are left out. */
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
  const { accounts, recent, tables, blocks, assets } = sights
  return (
    <>
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
      {accounts.length > 0 && (
        <section aria-labelledby="accounts">
          <h2 id="accounts">Accounts</h2>
          <ul class="tiles">
            {accounts.map(({ address, changes, hasMore, sent }) => (
              <li key={address}>
                <Link view={{ name: 'account', address, tab: changes > 0 ? 'activities' : 'balances' }} title={address}>
                  <code>{shortAddress(address)}</code>
                  <small>
                    {changes > 0 ? (
                      <>
                        {sent !== '0' && `sent ${countText(Number(sent), 'transaction')}; `}
                        {`${hasMore ? 'more than ' : ''}${countText(changes, 'change')} of its holdings in `}
                        <span class="unbroken">{countText(Number(recent), 'version')}</span>
                      </>
                    ) : (
                      `sent ${countText(Number(sent), 'transaction')}`
                    )}
                  </small>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {blocks.length > 0 && (
        <section aria-labelledby="blocks">
          <h2 id="blocks">Recent blocks</h2>
          <ul class="tiles">
            {blocks.map(({ block_height: height, block_timestamp: time, first_version: first, last_version: last }) => (
              <li key={height}>
                <Link view={{ name: 'block', by: 'height', number: height }}>
                  {groupDigits(height)}
                  <small>
                    {countText(Number(BigInt(last) - BigInt(first) + 1n), 'transaction')},{' '}
                    <span class="unbroken">{formatMicroseconds(time)}</span>
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
    </>
  )
}
