import { useState } from 'preact/hooks'
import type { Slice, SliceMember } from '../api/answers.ts'
import type { StateHead } from '../api/state-head.ts'
import { ForPrograms } from '../components/for-programs.tsx'
import { AddressLink, Link, shortAddress } from '../components/link.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { groupDigits } from '../state/amount.ts'
import { useStatePages } from '../state/use-pages.ts'

const PAGE = 100
const ROW_HEIGHT = 41

const REASONS = {
  asked: 'asked for',
  owner: 'its owner is kept',
  handle: 'its handle is in a kept value',
  type: 'it has a resource of a kept type',
} as const

/** The members of the slice that the store keeps, and a description of the omitted part. */
export function SliceMembers({ head, slice }: { readonly head: StateHead; readonly slice: Slice }) {
  const [isLate, setLate] = useState(false)
  const since = isLate ? `&joined_since=${BigInt(head.oldestVersion) + 1n}` : ''
  const request = { path: `/-/slice?limit=${PAGE}${since}` }
  const pages = useStatePages<Slice, SliceMember>(request, ({ members }) => members)
  return (
    <section aria-labelledby="slice">
      <h2 id="slice">The slice</h2>
      <p class="hint">Outside: {slice.outside}.</p>
      {slice.left_out && <p class="hint">{describeLeftOut(slice.left_out)}</p>}
      <p>
        <label>
          <input type="checkbox" checked={isLate} onChange={({ currentTarget }) => setLate(currentTarget.checked)} />{' '}
          only those that joined after version {groupDigits(head.oldestVersion)}
        </label>
      </p>
      <LongList
        label="Members of the slice"
        class="lines"
        count={pages.items.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        isBoxed
        row={(at) => <Member member={pages.items[at]!} />}
      />
      {!pages.isLoading && !pages.failure && !pages.more && pages.items.length === 0 && (
        <p class="empty">{isLate ? 'Nobody joined later.' : 'It has no members but the framework.'}</p>
      )}
      <MoreButton pages={pages} />
      <ForPrograms requests={[request]} />
    </section>
  )
}

function describeLeftOut({ keys, bytes, writes, written_bytes: written }: NonNullable<Slice['left_out']>): string {
  const count = (number: number): string => groupDigits(String(number))
  const state =
    keys > 0 ? `${count(keys)} keys (${count(bytes)} bytes) of the state that the store began with, and ` : ''
  return `Left out so far: ${state}${count(writes)} writes (${count(written)} bytes) of transactions.`
}

function Member({ member }: { readonly member: SliceMember }) {
  const { kind, id, joined_by: reason, since_version: since, known_whole: isWhole, keys, bytes } = member
  const size =
    keys === null || bytes === null ? 'more than 32 keys' : `${keys} keys, ${groupDigits(String(bytes))} bytes`
  return (
    <>
      {kind === 'account' ? (
        <AddressLink address={id} />
      ) : (
        <Link view={{ name: 'table', handle: id, types: tableTypes(member) }} title={id}>
          table <code>{shortAddress(id)}</code>
        </Link>
      )}{' '}
      <small>
        {REASONS[reason]}; {isWhole ? 'known completely' : `known since version ${groupDigits(since)}`}; {size}
      </small>
    </>
  )
}

function tableTypes({ value_type: valueType }: SliceMember) {
  return valueType === null ? {} : { valueType }
}
