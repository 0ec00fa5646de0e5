import { useMemo, useState } from 'preact/hooks'
import { type AssetFacts, assetFactsPath, resourceToAssetFacts } from '../api/asset.ts'
import { requestPath } from '../api/client.ts'
import { Curve } from '../components/curve.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { AddressLink } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { formatAmount, formatMicroseconds, groupDigits } from '../state/amount.ts'
import { goTo, route } from '../state/location.ts'
import { useAnswer, useText } from '../state/use-answer.ts'
import { usePages } from '../state/use-pages.ts'

interface Change {
  readonly version: string
  readonly timestamp: string | null
  readonly balance: string
}

const PAGE = 1_000

export function BalanceView({ address, asset }: { readonly address: string; readonly asset: string }) {
  const { at } = route.value
  const request = { path: `/accounts/${address}/balance/${encodeURIComponent(asset)}`, at }
  const balance = useText(request)
  const facts = useAnswer<{ readonly data: Partial<AssetFacts> }>({ path: assetFactsPath(asset), at })
  const known = facts && 'value' in facts ? resourceToAssetFacts(facts.value) : undefined
  return (
    <>
      <h1>
        <bdi>{known ? `${known.name} (${known.symbol})` : asset}</bdi>
      </h1>
      <p class="subtitle">
        of <AddressLink address={address} />
      </p>
      {balance === undefined && <Loading />}
      {balance && 'failure' in balance && <FailureNotice failure={balance.failure} />}
      {balance && 'value' in balance && (
        <p class="balance number">
          {formatAmount(balance.value, known?.decimals ?? 0)} <small>{known?.symbol}</small>
        </p>
      )}
      <BalanceHistory address={address} asset={asset} decimals={known?.decimals ?? 0} />
      <ForPrograms requests={[request]} />
    </>
  )
}

function BalanceHistory({ address, asset, decimals }: { address: string; asset: string; decimals: number }) {
  const path = `/accounts/${address}/balance/${encodeURIComponent(asset)}/history?limit=${PAGE}`
  const pages = usePages<readonly Change[], Change>({ path }, (page) => page)
  const [isTime, setTime] = useState(true)
  const ascending = useMemo(() => pages.items.toReversed(), [pages.items])
  const drawn = useMemo(
    () =>
      ascending
        .filter(({ timestamp }) => !isTime || timestamp !== null)
        .map((change) => toPoint(change, isTime, decimals)),
    [ascending, isTime, decimals],
  )
  const choose = (at: number): void => {
    const change = ascending.filter(({ timestamp }) => !isTime || timestamp !== null)[at]
    if (change) goTo({ view: route.value.view, at: change.version })
  }
  if (pages.items.length === 0) return <MoreButton pages={pages} />
  return (
    <section aria-label="History">
      <div class="inline">
        <h2>History</h2>
        <button type="button" aria-pressed={isTime} onClick={() => setTime(true)}>
          by time
        </button>
        <button type="button" aria-pressed={!isTime} onClick={() => setTime(false)}>
          by version
        </button>
        <a href={requestPath({ path })} download="balance.csv">
          JSON
        </a>
      </div>
      <Curve points={drawn} isTime={isTime} label="Balance" onChoose={choose} />
      {!pages.isComplete && <p class="hint">What was written before the window is not known.</p>}
      <ChangesTable changes={pages.items} decimals={decimals} />
      <MoreButton pages={pages} />
    </section>
  )
}

/** The curve is drawn in numbers of 53 bits; the table beside it has every digit. */
function toPoint({ version, timestamp, balance }: Change, isTime: boolean, decimals: number) {
  return { x: isTime ? Number(timestamp) / 1e6 : Number(version), y: Number(balance) / 10 ** decimals }
}

function ChangesTable({ changes, decimals }: { readonly changes: readonly Change[]; readonly decimals: number }) {
  return (
    <table class="amounts">
      <thead>
        <tr>
          <th scope="col">Version</th>
          <th scope="col">Time</th>
          <th scope="col" class="number">
            Balance
          </th>
          <th scope="col" class="number">
            Difference
          </th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ version, timestamp, balance }, at) => {
          const before = changes[at + 1]?.balance
          const difference = before === undefined ? '' : String(BigInt(balance) - BigInt(before))
          return (
            <tr key={version}>
              <td class="number">{groupDigits(version)}</td>
              <td>{timestamp === null ? 'before the window' : formatMicroseconds(timestamp)}</td>
              <td class="number">{formatAmount(balance, decimals)}</td>
              <td class="number">{difference && formatAmount(difference, decimals)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
