import type { OwnedObject } from '../api/answers.ts'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link, shortAddress } from '../components/link.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { NotProven } from '../proof/not-proven.tsx'
import { groupDigits } from '../state/amount.ts'
import { route } from '../state/location.ts'
import { kindOfObject } from '../state/object-kind.ts'
import { useObjectName } from '../state/object-name.ts'
import { useStatePages } from '../state/use-pages.ts'

const PAGE = 100
const ROW_HEIGHT = 64

/** Objects and tokens that an account or an object owns directly. */
export function AccountObjects({ address }: { readonly address: string }) {
  const { at } = route.value
  const request = { path: `/accounts/${encodeURIComponent(address)}/objects?limit=${PAGE}`, at }
  const pages = useStatePages<readonly OwnedObject[], OwnedObject>(request, (page) => page)
  const objects = pages.items
  return (
    <section aria-label="Owned objects">
      <ForPrograms requests={[request]} />
      <NotProven>
        The list is not proven: a proof is of one value. The owner of each object is a value of its own resources.
      </NotProven>
      <LongList
        label="Objects of the account"
        class="objects"
        count={objects.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(index) => <ObjectRow object={objects[index]!} />}
      />
      {!pages.isLoading && !pages.failure && objects.length === 0 && !pages.more && (
        <p class="empty">It owns no objects at this version.</p>
      )}
      <MoreButton pages={pages} />
    </section>
  )
}

function ObjectRow({ object }: { readonly object: OwnedObject }) {
  const { object_address: address, resources, allow_ungated_transfer, last_transaction_version: version } = object
  const kind = kindOfObject(resources)
  const name = useObjectName(address, kind)
  const others = resources.filter((type) => type !== '0x1::object::ObjectCore')
  return (
    <div class="object-row">
      <span>
        <Link view={{ name: 'account', address, tab: 'resources' }} title={address}>
          <bdi>{name === '' ? '\u00a0' : (name ?? <code>{shortAddress(address)}</code>)}</bdi>
        </Link>
        <small>{kind ?? 'object'}</small>
      </span>
      <span class="object-types">
        <bdi class="type">{others.map(shortType).join(', ') || 'no other resources'}</bdi>
      </span>
      <span class="amount">
        <small>written at version {groupDigits(version)}</small>
        {!allow_ungated_transfer && <small>its owner cannot transfer it</small>}
      </span>
    </div>
  )
}

/** A type without its address, cut: the resource has all of it. */
function shortType(type: string): string {
  const [, ...names] = type.split('::')
  const text = names.join('::')
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
