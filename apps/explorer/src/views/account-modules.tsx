import type { ModuleAnswer } from '../api/module.ts'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link } from '../components/link.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { route } from '../state/location.ts'
import { usePages } from '../state/use-pages.ts'

const PAGE = 100

export function AccountModules({ address }: { readonly address: string }) {
  const request = { path: `/accounts/${encodeURIComponent(address)}/modules?limit=${PAGE}`, at: route.value.at }
  const pages = usePages<readonly ModuleAnswer[], ModuleAnswer>(request, (page) => page)
  const names = pages.items.flatMap(({ abi }) => (abi ? [abi] : []))
  return (
    <section aria-label="Modules">
      <ul class="modules">
        {names.map(({ name, structs, exposed_functions: functions }) => (
          <li key={name}>
            <Link view={{ name: 'module', address, module: name }}>
              <bdi>{name}</bdi>
            </Link>{' '}
            <small>
              {structs.length} types, {functions.length} functions
            </small>
          </li>
        ))}
      </ul>
      {!pages.isLoading && !pages.failure && names.length === 0 && <p class="empty">No modules at this version.</p>}
      <MoreButton pages={pages} />
      <ForPrograms requests={[request]} />
    </section>
  )
}
