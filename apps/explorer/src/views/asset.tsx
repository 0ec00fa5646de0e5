import type { AssetFacts } from '../api/asset.ts'
import { assetFactsPath, isCoin, issuerOf } from '../api/asset.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Fact } from '../components/fact.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link, shortAddress } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { NameParts } from '../components/name-parts.tsx'
import { NotProven } from '../proof/not-proven.tsx'
import { formatAmount } from '../state/amount.ts'
import { useAssetSupply } from '../state/asset-supply.ts'
import { route } from '../state/location.ts'
import { usePairedAsset } from '../state/paired-asset.ts'
import { useAsset } from '../state/use-asset.ts'
import { AssetHolders, holdersPath } from './asset-holders.tsx'
import { AssetSupply } from './asset-supply.tsx'

/** A coin or a fungible asset: its facts, the curve of its supply, and its holders. */
export function AssetView({ asset }: { readonly asset: string }) {
  const { at } = route.value
  const { answer, facts } = useAsset(asset)
  const supply = useAssetSupply(asset)
  const paired = usePairedAsset(asset)
  // All facts at once: one that came later would move the others.
  const isKnown = answer !== undefined && supply !== undefined && paired !== undefined
  return (
    <>
      <h1 class="asset-name">
        <bdi>{facts?.name || (answer === undefined ? '\u00a0' : <span class="type">{asset}</span>)}</bdi>
        {facts && facts.symbol !== '' && (
          <small>
            {' '}
            <bdi>{facts.symbol}</bdi>
          </small>
        )}
      </h1>
      <p class="subtitle">
        <bdi class="type">{asset}</bdi> <CopyButton text={asset} what="the asset" />
      </p>
      <ForPrograms
        requests={[
          { path: assetFactsPath(asset), at },
          { path: holdersPath(asset, 'amount'), at },
        ]}
      />
      {!isKnown && <Loading />}
      {isKnown && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {isKnown && facts && (
        <>
          <AssetFactsList asset={asset} facts={facts} supply={supply} paired={paired} />
          <NotProven>
            The supply and the holders are not proven: a proof is of one value of the state. The values that count them
            are, one by one, under the resources of the issuer.
          </NotProven>
          {supply ? (
            <AssetSupply source={supply} facts={facts}>
              <AssetHolders asset={asset} facts={facts} supply={supply.supply} paired={paired} />
            </AssetSupply>
          ) : (
            <AssetHolders asset={asset} facts={facts} supply={undefined} paired={paired} />
          )}
        </>
      )}
    </>
  )
}

interface AssetFactsListProps {
  readonly asset: string
  readonly facts: AssetFacts
  readonly supply: NonNullable<ReturnType<typeof useAssetSupply>> | null
  readonly paired: string | null
}

function AssetFactsList({ asset, facts, supply, paired }: AssetFactsListProps) {
  const { symbol, decimals } = facts
  const inUnits = (units: string) => (
    <>
      {formatAmount(units, decimals)}{' '}
      <small class="symbol">
        <bdi>{symbol}</bdi>
      </small>
    </>
  )
  return (
    <dl class="facts">
      <Fact name="Supply">{supply?.supply === undefined ? 'not counted' : inUnits(supply.supply)}</Fact>
      {supply?.maximum !== undefined && <Fact name="At most">{inUnits(supply.maximum)}</Fact>}
      <Fact name="Decimals">{decimals}</Fact>
      <Fact name="Standard">{isCoin(asset) ? 'coin' : 'fungible asset'}</Fact>
      {paired !== null && (
        <Fact name={isCoin(asset) ? 'Also a fungible asset' : 'Also a coin'}>
          <Link view={{ name: 'asset', asset: paired }} title={paired}>
            <code>
              {isCoin(paired) ? <NameParts name={paired.slice(issuerOf(paired).length + 2)} /> : shortAddress(paired)}
            </code>
          </Link>
        </Fact>
      )}
      <Fact name="Declared at">
        <Link view={{ name: 'account', address: issuerOf(asset), tab: 'resources' }} title={issuerOf(asset)}>
          <code>{shortAddress(issuerOf(asset))}</code>
        </Link>
      </Fact>
    </dl>
  )
}
