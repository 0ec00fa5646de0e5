import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Account } from '../api/answers.ts'
import { toStandardAddress } from '../api/program-lines.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { createLazy } from '../components/lazy.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { ProofNote } from '../proof/proof-note.tsx'
import { groupDigits } from '../state/amount.ts'
import { route } from '../state/location.ts'
import { ACCOUNT_TABS, type AccountTab } from '../state/route.ts'
import { useAnswer, useText } from '../state/use-answer.ts'
import { AccountBalances } from './account-balances.tsx'
import { AccountChanges } from './account-changes.tsx'
import { AccountModules } from './account-modules.tsx'
import { AccountResources } from './account-resources.tsx'

const AccountActivities = createLazy(async () => (await import('./account-activities.tsx')).AccountActivities)
const AccountTransactions = createLazy(async () => (await import('./account-transactions.tsx')).AccountTransactions)
const AccountObjects = createLazy(async () => (await import('./account-objects.tsx')).AccountObjects)

const TAB_TITLES: Readonly<Record<AccountTab, string>> = {
  balances: 'Holdings',
  activities: 'Activities',
  transactions: 'Transactions',
  objects: 'Objects',
  resources: 'Resources',
  modules: 'Modules',
  changes: 'Changes',
}

export function AccountView({ address, tab }: { readonly address: string; readonly tab: AccountTab }) {
  const { at } = route.value
  const request = { path: `/accounts/${encodeURIComponent(address)}`, at }
  const account = useAnswer<Account>(request)
  const failure = account && 'failure' in account && account.failure.kind !== 'absent' ? account.failure : undefined
  return (
    <>
      <h1>
        Account <code>{address}</code> <CopyButton text={toStandardAddress(address)} what="the address" />
      </h1>
      {account === undefined && <Loading />}
      {account && 'value' in account && (
        <p class="subtitle">sent {groupDigits(account.value.sequence_number)} transactions</p>
      )}
      {account && 'failure' in account && account.failure.kind === 'absent' && <WhatIsThere address={address} />}
      {failure && <FailureNotice failure={failure} />}
      <ProofNote question={{ kind: 'account', address }} request={request} answer={account} />
      <LazyObjectFacts address={address} at={at}>
        {!failure && (
          <>
            <nav class="tabs" aria-label="Parts of the account">
              {ACCOUNT_TABS.map((one) => (
                <span key={one} class={one === tab ? 'tab tab-chosen' : 'tab'}>
                  <Link view={{ name: 'account', address, tab: one }} isHere={one === tab}>
                    {TAB_TITLES[one]}
                  </Link>
                </span>
              ))}
            </nav>
            {tab === 'balances' && <AccountBalances address={address} />}
            {tab === 'activities' && <AccountActivities address={address} />}
            {tab === 'transactions' && <AccountTransactions address={address} />}
            {tab === 'objects' && <AccountObjects address={address} />}
            {tab === 'resources' && <AccountResources address={address} />}
            {tab === 'modules' && <AccountModules address={address} />}
            {tab === 'changes' && <AccountChanges address={address} />}
          </>
        )}
      </LazyObjectFacts>
    </>
  )
}

interface LazyObjectFactsProps {
  readonly address: string
  readonly at: string | undefined
  /** The part below the facts. */
  readonly children: ComponentChildren
}

/** Facts of an object, loaded after the first paint. Most addresses are accounts and nothing else. */
function LazyObjectFacts(props: LazyObjectFactsProps) {
  const [loaded, setLoaded] = useState<typeof import('./object-facts.tsx') | 'failed' | undefined>(undefined)
  useEffect(() => {
    import('./object-facts.tsx').then(setLoaded, () => setLoaded('failed'))
  }, [])
  if (loaded === undefined) return <Loading />
  return loaded === 'failed' ? props.children : <loaded.ObjectFactsCard {...props} />
}

/** Contents of an address without an account: an object, the owner of assets, or nothing. */
function WhatIsThere({ address }: { readonly address: string }) {
  const { at } = route.value
  const path = `/accounts/${encodeURIComponent(address)}`
  const [resources, modules, balance] = [
    useText({ path: `${path}/resources?limit=1`, at }),
    useText({ path: `${path}/modules?limit=1`, at }),
    useText({ path: `${path}/balance/0xa`, at }),
  ]
  const isEmpty = [resources, modules, balance].every((one) => one && 'value' in one && /^(?:\[\]|0)$/.test(one.value))
  if (!isEmpty) return <p class="subtitle">no account: it has sent no transaction</p>
  return (
    <p class="subtitle" role="status">
      nothing is stored at this address
    </p>
  )
}
