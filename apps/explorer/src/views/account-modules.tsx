import type { ModuleAnswer } from '../api/answers.ts'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link } from '../components/link.tsx'
import { LongList } from '../components/long-list.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { ProvenListNote, useProvenList } from '../proof/proven-list.tsx'
import { route } from '../state/location.ts'
import { useStatePages } from '../state/use-pages.ts'

const PAGE = 100
const ROW_HEIGHT = 41

export function AccountModules({ address }: { readonly address: string }) {
  const request = { path: `/accounts/${encodeURIComponent(address)}/modules?limit=${PAGE}`, at: route.value.at }
  const pages = useStatePages<readonly ModuleAnswer[], ModuleAnswer>(request, (page) => page)
  const list = useProvenList(request.at, pages.first)
  const modules = pages.items.flatMap(({ abi }) => (abi ? [abi] : []))
  const unread = pages.items.length - modules.length
  return (
    <section aria-label="Modules">
      <ForPrograms requests={[request]} />
      <ProvenListNote list={list} what="Each module is verified in this browser on its own page." />
      <LongList
        label="Modules of the account"
        class="lines"
        count={modules.length}
        rowHeight={ROW_HEIGHT}
        onEnd={pages.more}
        row={(at) => {
          const { name, structs, exposed_functions: functions } = modules[at]!
          return (
            <>
              <Link view={{ name: 'module', address, module: name }}>
                <bdi>{name}</bdi>
              </Link>{' '}
              <small>
                {counted(structs.length, 'type')}, {counted(functions.length, 'function')}
              </small>
            </>
          )
        }}
      />
      {unread > 0 && <p class="hint">{counted(unread, 'module')} cannot be read.</p>}
      {!pages.isLoading && !pages.failure && pages.items.length === 0 && (
        <p class="empty">No modules at this version.</p>
      )}
      <MoreButton pages={pages} />
    </section>
  )
}

function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
