import { definitions, wrapped } from '../terminal/wrap.js'
import { type Command, optionsOf } from './command.js'
import { OPTION_GROUPS, type Option } from './option.js'

/** The name of a command and its arguments. */
export function usageOf({ name, arguments: given }: Command): string {
  return [name, ...given.map((one) => (one.isRest ? `[${one.name}…]` : one.name))].join(' ')
}

/** The help of a command, in lines of at most `width` characters. */
export function helpText(command: Command, width: number): string {
  const { summary, details, examples } = command
  const parts = [
    `${wrapped(summary, width)}\n`,
    ...paragraphs(details ?? '').map((paragraph) => `${wrapped(paragraph, width)}\n`),
    `Usage: ledger-state ${usageOf(command)} [options]\n`,
  ]
  const list = (title: string, rows: readonly (readonly [string, string])[]) => {
    if (rows.length > 0) parts.push(`${title}:\n${definitions(rows, width)}\n`)
  }
  list(
    'Arguments',
    command.arguments.map(({ name, description }) => [name, description]),
  )
  const options = optionsOf(command)
  for (const group of [undefined, ...OPTION_GROUPS]) {
    list(group ?? 'Options', options.filter((option) => option.group === group).map(optionRow))
  }
  if (examples.length > 0) parts.push(`Examples:\n${examples.map((example) => `  ${example}`).join('\n')}\n`)
  return parts.join('\n')
}

/** The paragraphs of a text, which blank lines separate, without line breaks. */
function paragraphs(text: string): string[] {
  const parts = text.split(/\n{2,}/).map((part) => part.trim().replaceAll('\n', ' '))
  return parts.filter((part) => part !== '')
}

function optionRow({ name, value, fallback, description }: Option<unknown>): readonly [string, string] {
  const isOn = value === undefined && fallback === 'true'
  const flag = `--${isOn ? 'no-' : ''}${name}${value ? ` ${value}` : ''}`
  if (value !== undefined && fallback !== undefined) return [flag, `${description} (default ${fallback})`]
  return [flag, isOn ? `do not ${description}` : description]
}
