import { useEffect, useErrorBoundary } from 'preact/hooks'
import { createLazy } from './components/lazy.tsx'
import { SearchField } from './components/search-field.tsx'
import { ThemeButton } from './components/theme-button.tsx'
import { TimeMachine } from './components/time-machine.tsx'
import { WaitingNotice } from './components/waiting-notice.tsx'
import { branch } from './state/ledger.ts'
import { route } from './state/location.ts'
import { routeToHref, type View } from './state/route.ts'
import { AccountView } from './views/account.tsx'
import { ApiView } from './views/api.tsx'
import { BalanceView } from './views/balance.tsx'
import { BlockView } from './views/block.tsx'
import { HomeView } from './views/home.tsx'
import { ModuleView } from './views/module.tsx'
import { ResourceView } from './views/resource.tsx'
import { TableView } from './views/table.tsx'
import { ViewFunctionView } from './views/view-function.tsx'
import { WatchView } from './views/watch.tsx'

const AssetView = createLazy(async () => (await import('./views/asset.tsx')).AssetView)

export function App() {
  const { view } = route.value
  const title = viewTitle(view)
  useEffect(() => {
    document.title = title === '' ? 'Ledger State' : `${title} · Ledger State`
  }, [title])
  return (
    <>
      <a class="skip" href="#content">
        To the content
      </a>
      <header>
        <div class="bar">
          <a class="brand" href="/">
            <img src="/icon.svg" alt="" />
            Ledger State
          </a>
          <SearchField />
          <nav aria-label="Pages">
            <a href="/watch">Watched</a>
            <a href="/api">API</a>
          </nav>
          <ThemeButton />
        </div>
        <TimeMachine key={branch.value} />
      </header>
      <main id="content" tabIndex={-1}>
        <SoundView key={`${branch.value} ${routeToHref({ view, at: undefined }).split('?', 1)[0]}`} view={view} />
      </main>
      <WaitingNotice />
    </>
  )
}

/** An error boundary for a view: if it cannot be drawn, only it fails, and search and time machine stay. */
function SoundView({ view }: { readonly view: View }) {
  const [error, reset] = useErrorBoundary()
  if (error === undefined) return <ViewOf view={view} />
  return (
    <section class="notice" role="alert">
      <h1>This cannot be shown</h1>
      <p>
        <bdi>{error instanceof Error ? error.message : String(error)}</bdi>
      </p>
      <button type="button" onClick={reset}>
        Try again
      </button>
    </section>
  )
}

function ViewOf({ view }: { readonly view: View }) {
  switch (view.name) {
    case 'home':
      return <HomeView />
    case 'account':
      return <AccountView address={view.address} tab={view.tab} />
    case 'balance':
      return <BalanceView address={view.address} asset={view.asset} curve={view.curve} />
    case 'asset':
      return <AssetView key={view.asset} asset={view.asset} />
    case 'resource':
      return <ResourceView address={view.address} type={view.type} />
    case 'module':
      return <ModuleView address={view.address} module={view.module} />
    case 'view':
      return <ViewFunctionView key={view.function} name={view.function} call={view.call} />
    case 'watch':
      return <WatchView />
    case 'table':
      return <TableView handle={view.handle} types={view.types} itemKey={view.key} />
    case 'block':
      return <BlockView by={view.by} number={view.number} />
    case 'api':
      return <ApiView operation={view.operation} />
    case 'unknown':
      return (
        <section class="notice" role="alert">
          <h1>There is no such page</h1>
          <p>
            <bdi>{view.path}</bdi> names nothing. <a href="/">Begin at the ledger.</a>
          </p>
        </section>
      )
  }
}

function viewTitle(view: View): string {
  switch (view.name) {
    case 'home':
      return ''
    case 'account':
      return `Account ${view.address}`
    case 'balance':
      return `Balance of ${view.address}`
    case 'asset':
      return `Asset ${view.asset}`
    case 'resource':
      return view.type
    case 'module':
      return `${view.address}::${view.module}`
    case 'view':
      return view.function
    case 'watch':
      return 'Watched calls'
    case 'table':
      return `Table ${view.handle}`
    case 'block':
      return view.by === 'height' ? `Block ${view.number}` : `Version ${view.number}`
    case 'api':
      return view.operation ?? 'API'
    case 'unknown':
      return 'No such page'
  }
}
