import type { ModuleAnswer } from '../api/answers.ts'
import { Link } from '../components/link.tsx'
import { countText } from '../state/count-text.ts'
import { route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'

/** A module, and a struct or function of it that names types in its declaration. */
interface Declaration {
  readonly module: string
  readonly name: string
  readonly text: string
}

/** Declarations of the modules of an account. */
interface AccountDeclarations {
  readonly all: readonly Declaration[]
  /** Number of modules of a first page that the account's other modules follow; undefined if there are no others. */
  readonly firstModules: number | undefined
}

const NOTHING: AccountDeclarations = { all: [], firstModules: undefined }

/** The declarations of the modules of an account, up to a page of them. */
export function useDeclarations(address: string | undefined): AccountDeclarations {
  const path = `/accounts/${address}/modules?limit=1000`
  const answer = useAnswer<readonly ModuleAnswer[]>(address === undefined ? undefined : { path, at: route.value.at })
  if (!answer || 'failure' in answer) return NOTHING
  const all = answer.value.flatMap(({ abi }) => {
    if (!abi) return []
    const structs = abi.structs.map(({ name, fields }) => ({ name, text: fields.map(({ type }) => type).join(' ') }))
    const functions = abi.exposed_functions.map((one) => ({
      name: one.name,
      text: [...one.params, ...one.return].join(' '),
    }))
    return [...structs, ...functions].map((one) => ({ ...one, module: abi.name }))
  })
  return { all, firstModules: answer.answer.cursor === undefined ? undefined : answer.value.length }
}

const FIRST_USES = 40

interface TypeUsesProps {
  readonly type: string
  readonly declarations: AccountDeclarations
}

/** Uses of a type by the modules of its account. */
export function TypeUses({ type, declarations: { all, firstModules } }: TypeUsesProps) {
  const found = all.filter(({ text }) => includesType(text, type))
  if (found.length === 0 && firstModules === undefined) return null
  const [address] = type.split('::') as [string]
  return (
    <p class="hint">
      {found.length === 0 ? 'not used' : 'used by '}
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
      {firstModules !== undefined &&
        ` in the first ${countText(firstModules, 'module')} of the account, which has more`}
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
