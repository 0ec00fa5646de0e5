import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { NodeInfo, Slice, Trust } from '../api/answers.ts'
import { networkName } from '../api/network-name.ts'
import type { StateHead } from '../api/state-head.ts'
import { Fact } from '../components/fact.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { SignedFact } from '../components/signed-fact.tsx'
import { SliceFact } from '../components/slice-fact.tsx'
import { WindowBar } from '../components/window-bar.tsx'
import { formatAge, groupDigits } from '../state/amount.ts'
import { ageSeconds, newest, newestFailure, oldestTimestampUsec } from '../state/ledger.ts'
import type { View } from '../state/route.ts'
import { summaryWords } from '../state/summary-words.ts'
import { useAnswer } from '../state/use-answer.ts'

/** The framework's account, which every ledger has. */
const FRAMEWORK = '0x1'

export function HomeView() {
  const head = newest.value
  const asked = useAnswer<Slice>({ path: '/-/slice?limit=1' })
  const slice = asked && !('failure' in asked) ? asked.value : undefined
  const askedTrust = useAnswer<Trust>({ path: '/-/trust' })
  const trust = askedTrust && !('failure' in askedTrust) ? askedTrust.value : undefined
  const askedInfo = useAnswer<NodeInfo>({ path: '/info' })
  const info = askedInfo && !('failure' in askedInfo) ? askedInfo.value : undefined
  if (!head && newestFailure.value) return <FailureNotice failure={newestFailure.value} />
  // All of it at once: a part that came later would move the others.
  if (!head || !asked || !askedTrust || !askedInfo) return <Loading />
  return (
    <>
      <h1>{networkName(head.chainId, trust?.network)}</h1>
      <p class="subtitle">{summaryWords(head, trust, slice, info)}</p>
      <WindowBar head={head} />
      <dl class="facts">
        {trust && <SignedFact trust={trust} />}
        <Fact name="Versions kept">{keptText(head)}</Fact>
        <Fact name="Block">{groupDigits(head.height)}</Fact>
        <Fact name="Epoch">{groupDigits(head.epoch)}</Fact>
        {head.timestampUsec !== '0' && <Fact name="Age of the newest block">{formatAge(ageSeconds.value)}</Fact>}
        {slice?.asked && <SliceFact asked={slice.asked} />}
      </dl>
      {slice?.asked && <LazyMembers head={head} slice={slice} />}
      <h2 id="begin">Where to begin</h2>
      <nav aria-labelledby="begin">
        <ul class="tiles">
          <Tile view={{ name: 'account', address: FRAMEWORK, tab: 'modules' }} title="The framework's modules">
            types and functions of {FRAMEWORK}
          </Tile>
          <Tile view={{ name: 'account', address: FRAMEWORK, tab: 'resources' }} title="The framework's resources">
            the chain's own data
          </Tile>
          <Tile view={{ name: 'block', by: 'height', number: head.height }} title="The newest block">
            height {groupDigits(head.height)}
          </Tile>
          <Tile view={{ name: 'api' }} title="The API">
            every operation, with a form that sends it
          </Tile>
        </ul>
      </nav>
      <ForPrograms requests={[{ path: '' }]} />
      <LazySights head={head} />
    </>
  )
}

/** Number of versions of the window, and its length once it is known. */
function keptText({ version, oldestVersion, timestampUsec }: StateHead): string {
  const count = groupDigits(String(BigInt(version) - BigInt(oldestVersion) + 1n))
  const oldest = oldestTimestampUsec.value
  const seconds = oldest === undefined ? 0 : Number((BigInt(timestampUsec) - BigInt(oldest)) / 1_000_000n)
  return seconds > 0 ? `${count}, ${formatAge(seconds)}` : count
}

/** The sights of the ledger, loaded once the rest of the view is drawn. */
function LazySights({ head }: { readonly head: StateHead }) {
  const [loaded, setLoaded] = useState<{ readonly Sights: ComponentType<{ head: StateHead }> } | undefined>(undefined)
  useEffect(() => {
    import('./sights.tsx').then(setLoaded, () => {})
  }, [])
  return loaded ? <loaded.Sights head={head} /> : null
}

/** The members of a slice, loaded if the store keeps one; most stores keep everything. */
function LazyMembers(props: { readonly head: StateHead; readonly slice: Slice }) {
  const [loaded, setLoaded] = useState<{ readonly SliceMembers: ComponentType<typeof props> } | undefined>(undefined)
  useEffect(() => {
    import('./slice-members.tsx').then(setLoaded, () => {})
  }, [])
  return loaded ? <loaded.SliceMembers {...props} /> : null
}

function Tile({ view, title, children }: { view: View; title: string; children: ComponentChildren }) {
  return (
    <li>
      <Link view={view}>
        {title}
        <small>{children}</small>
      </Link>
    </li>
  )
}
