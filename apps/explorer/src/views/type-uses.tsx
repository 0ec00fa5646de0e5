import type { ModuleAnswer } from '../api/answers.ts'
import { Link } from '../components/link.tsx'
import { route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'

/** A module, and a struct or function of it that names types in its declaration. */
interface Declaration {
  readonly module: string
  readonly name: string
  readonly text: string
}

/** All declarations of the modules of an account. */
export function useTypeUses(address: string | undefined): readonly Declaration[] {
  const path = `/accounts/${address}/modules?limit=1000`
  const answer = useAnswer<readonly ModuleAnswer[]>(address === undefined ? undefined : { path, at: route.value.at })
  if (!answer || 'failure' in answer) return []
  return answer.value.flatMap(({ abi }) => {
    if (!abi) return []
    const structs = abi.structs.map(({ name, fields }) => ({ name, text: fields.map(({ type }) => type).join(' ') }))
    const functions = abi.exposed_functions.map((one) => ({
      name: one.name,
      text: [...one.params, ...one.return].join(' '),
    }))
    return [...structs, ...functions].map((one) => ({ ...one, module: abi.name }))
  })
}

const FIRST_USES = 40

/** Uses of a type by the modules of its account. */
export function TypeUses({ type, uses }: { readonly type: string; readonly uses: readonly Declaration[] }) {
  const found = uses.filter(({ text }) => includesType(text, type))
  if (found.length === 0) return null
  const [address] = type.split('::') as [string]
  return (
    <p class="hint">
      used by{' '}
      {found.slice(0, FIRST_USES).map(({ module, name }, at) => (
        <span key={`${module} ${name}`}>
          {at > 0 && ', '}
          <Link view={{ name: 'module', address, module }}>
            <bdi class="type">
              {module}::{name}
            </bdi>
          </Link>
        </span>
      ))}
      {found.length > FIRST_USES && ` and ${found.length - FIRST_USES} more`}
    </p>
  )
}

/** Whether a text names a type: `0x1::a::B` is not in `0x1::a::Bc`. */
function includesType(text: string, type: string): boolean {
  for (let at = text.indexOf(type); at >= 0; at = text.indexOf(type, at + 1)) {
    if (!/\w/.test(text[at + type.length] ?? '') && !/\w/.test(text[at - 1] ?? '')) return true
  }
  return false
}
