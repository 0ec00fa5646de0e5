import type { Block } from '../api/answers.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { createLazy } from '../components/lazy.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { formatMicroseconds, groupDigits } from '../state/amount.ts'
import { goTo } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'

const BlockContents = createLazy(async () => (await import('./block-transactions.tsx')).BlockContents)

export function BlockView({ by, number }: { readonly by: 'height' | 'version'; readonly number: string }) {
  const request = { path: `/blocks/by_${by}/${encodeURIComponent(number)}` }
  const answer = useAnswer<Block>(request)
  return (
    <>
      <h1>{by === 'height' ? `Block ${groupDigits(number)}` : `The block of version ${groupDigits(number)}`}</h1>
      <ForPrograms requests={[request]} />
      {answer === undefined && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {answer && 'value' in answer && <BlockFacts block={answer.value} />}
    </>
  )
}

function BlockFacts({ block }: { readonly block: Block }) {
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Height</dt>
          <dd class="number">{groupDigits(block.block_height)}</dd>
        </div>
        <div>
          <dt>Time</dt>
          <dd class="number">{formatMicroseconds(block.block_timestamp)}</dd>
        </div>
        <div>
          <dt>Versions</dt>
          <dd class="number">
            {groupDigits(block.first_version)} to {groupDigits(block.last_version)}
          </dd>
        </div>
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
        <button type="button" onClick={() => goTo({ view: { name: 'home' }, at: block.last_version })}>
          Look at the state after this block
        </button>
        {block.block_height !== '0' && (
          <Link view={{ name: 'block', by: 'height', number: String(BigInt(block.block_height) - 1n) }}>
            The block before
          </Link>
        )}
        <Link view={{ name: 'block', by: 'height', number: String(BigInt(block.block_height) + 1n) }}>
          The block after
        </Link>
      </p>
      <BlockContents key={block.block_height} block={block} />
    </>
  )
}
