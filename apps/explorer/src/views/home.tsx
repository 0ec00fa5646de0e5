import { FailureNotice } from '../components/failure-notice.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { WindowBar } from '../components/window-bar.tsx'
import { groupDigits } from '../state/amount.ts'
import { newest, newestFailure } from '../state/ledger.ts'

/** The framework's account, which every ledger has. */
const FRAMEWORK = '0x1'

export function HomeView() {
  const head = newest.value
  if (!head) return newestFailure.value ? <FailureNotice failure={newestFailure.value} /> : <Loading />
  const lagSeconds = Math.max(0, Math.round((Date.now() - Number(BigInt(head.timestampUsec) / 1000n)) / 1000))
  return (
    <>
      <h1>Chain {head.chainId}</h1>
      <WindowBar />
      <dl class="facts">
        <Fact
          name="Versions kept"
          value={groupDigits(String(BigInt(head.version) - BigInt(head.oldestVersion) + 1n))}
        />
        <Fact name="Block" value={groupDigits(head.height)} />
        <Fact name="Epoch" value={groupDigits(head.epoch)} />
        <Fact name="Age of the newest block" value={formatAge(lagSeconds)} />
      </dl>
      <nav aria-label="Where to begin">
        <ul class="begin">
          <li>
            <Link view={{ name: 'account', address: FRAMEWORK, tab: 'modules' }}>the framework's modules</Link>
          </li>
          <li>
            <Link view={{ name: 'account', address: FRAMEWORK, tab: 'resources' }}>the framework's resources</Link>
          </li>
          <li>
            <Link view={{ name: 'block', by: 'version', number: head.version }}>the newest block</Link>
          </li>
          <li>
            <a href="/v1/spec">all operations of the API</a>
          </li>
        </ul>
      </nav>
    </>
  )
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{value}</dd>
    </div>
  )
}

function formatAge(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800
    ? `${Math.round(seconds / 3_600)} h`
    : `${groupDigits(String(Math.round(seconds / 86_400)))} days`
}
