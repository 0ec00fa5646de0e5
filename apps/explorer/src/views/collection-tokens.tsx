import type { Token } from '../api/answers.ts'
import { AddressLink, Link, shortAddress } from '../components/link.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { useObjectName } from '../state/object-name.ts'
import { useStatePages } from '../state/use-pages.ts'

const PAGE = 100
const ROW_HEIGHT = 44

interface CollectionTokensProps {
  readonly collection: string
  readonly at: string | undefined
}

/** The tokens of a collection, with their owners. */
export function CollectionTokens({ collection, at }: CollectionTokensProps) {
  const request = { path: `/collections/${encodeURIComponent(collection)}/tokens?limit=${PAGE}`, at }
  const pages = useStatePages<readonly Token[], Token>(request, (page) => page)
  const tokens = pages.items
  return (
    <section aria-label="Tokens">
      <h3>Tokens</h3>
      <LongList
        label="Tokens of the collection"
        isBoxed={tokens.length > 0}
        count={tokens.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(at) => <TokenRow token={tokens[at]!} />}
      />
      {!pages.isLoading && !pages.failure && tokens.length === 0 && !pages.more && (
        <p class="hint">It has no tokens.</p>
      )}
      <MoreButton pages={pages} />
    </section>
  )
}

function TokenRow({ token: { token_address: address, owner_address: owner } }: { readonly token: Token }) {
  const name = useObjectName(address, 'token')
  return (
    <div class="change">
      <Link view={{ name: 'account', address, tab: 'resources' }} title={address}>
        <bdi>{name === '' ? '\u00a0' : (name ?? <code>{shortAddress(address)}</code>)}</bdi>
      </Link>
      <span>
        <small>
          of <AddressLink address={owner} />
        </small>
      </span>
    </div>
  )
}
