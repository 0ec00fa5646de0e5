import type { Block } from '../api/answers.ts'
import type { StateHead } from '../api/state-head.ts'
import { Fact } from '../components/fact.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { createLazy } from '../components/lazy.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { formatAge, formatMicroseconds, groupDigits, LAST_MICROSECOND } from '../state/amount.ts'
import { newest, secondsSince } from '../state/ledger.ts'
import { goTo } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'

const BlockContents = createLazy(async () => (await import('./block-transactions.tsx')).BlockContents)

export function BlockView({ by, number }: { readonly by: 'height' | 'version'; readonly number: string }) {
  const request = { path: `/blocks/by_${by}/${encodeURIComponent(number)}` }
  const answer = useAnswer<Block>(request)
  const head = newest.value
  return (
    <>
      <h1>{by === 'height' ? `Block ${groupDigits(number)}` : `The block of version ${groupDigits(number)}`}</h1>
      <ForPrograms requests={[request]} />
      {(answer === undefined || ('value' in answer && !head)) && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {answer && 'value' in answer && head && (
        <BlockFacts block={answer.value} head={head} chosen={by === 'version' ? number : undefined} />
      )}
    </>
  )
}

interface BlockFactsProps {
  readonly block: Block
  readonly head: StateHead
  /** Version that the visitor asked for, whose transaction is shown whole. */
  readonly chosen: string | undefined
}

function BlockFacts({ block, head, chosen }: BlockFactsProps) {
  const { block_height: height, block_timestamp: time, first_version: first, last_version: last } = block
  const hasAge = time !== '0' && BigInt(time) <= LAST_MICROSECOND
  return (
    <>
      <dl class="facts">
        <Fact name="Height">{groupDigits(height)}</Fact>
        <Fact name="Time">
          {formatMicroseconds(time)}
          {hasAge && <small class="below">{formatAge(secondsSince(time))} ago</small>}
        </Fact>
        <Fact name="Transactions">{groupDigits(String(BigInt(last) - BigInt(first) + 1n))}</Fact>
        <Fact name="Versions">
          {groupDigits(first)} to {groupDigits(last)}
        </Fact>
        {block.block_hash !== null && (
          <div>
            <dt>Hash</dt>
            <dd>
              <code class="whole">{block.block_hash}</code>
            </dd>
          </div>
        )}
      </dl>
      <p class="inline">
        <button type="button" onClick={() => goTo({ view: { name: 'home' }, at: last })}>
          Look at the state after this block
        </button>
        {BigInt(height) > BigInt(head.oldestHeight) ? (
          <Link view={{ name: 'block', by: 'height', number: String(BigInt(height) - 1n) }}>The block before</Link>
        ) : (
          <span class="hint">the oldest block that is kept</span>
        )}
        {BigInt(height) < BigInt(head.height) ? (
          <Link view={{ name: 'block', by: 'height', number: String(BigInt(height) + 1n) }}>The block after</Link>
        ) : (
          <span class="hint">the newest block</span>
        )}
      </p>
      <BlockContents key={height} block={block} chosen={chosen} />
    </>
  )
}
