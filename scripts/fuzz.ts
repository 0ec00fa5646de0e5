// `pnpm fuzz [parsers|engine]`: the one or the other, each with options of its own.
const [target = 'parsers'] = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
if (target === 'engine') await import('./fuzz-engine.ts')
else await import('./fuzz-parsers.ts')
