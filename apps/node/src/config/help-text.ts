import { table } from '../terminal/table.js'
import { type Command, optionsOf } from './command.js'

export function helpText(command: Command): string {
  const optionRows = optionsOf(command).map((option) => {
    const isOn = option.value === undefined && option.fallback === 'true'
    const fallback = option.value !== undefined && option.fallback !== undefined ? ` (default ${option.fallback})` : ''
    const does = isOn ? `do not ${option.description}` : option.description
    return [`--${isOn ? 'no-' : ''}${option.name}${option.value ? ` ${option.value}` : ''}`, `${does}${fallback}`]
  })
  const argumentRows = command.arguments.map(({ name, description }) => [name, description])
  const parts = [
    `${[command.summary, command.details].join('\n').trimEnd()}\n`,
    `Usage: ledger-state ${command.name}${command.arguments.map(({ name, isRest }) => (isRest ? ` [${name}…]` : ` ${name}`)).join('')} [options]\n`,
  ]
  if (argumentRows.length > 0) parts.push(`Arguments:\n${table(argumentRows)}\n`)
  parts.push(`Options:\n${table(optionRows)}\n`)
  if (command.examples.length > 0)
    parts.push(`Examples:\n${command.examples.map((example) => `  ${example}`).join('\n')}\n`)
  return parts.join('\n')
}
