// Imports point one way between the folders of a package, and no module reaches into another package past its `exports`.
// ARCHITECTURE.md says which package may depend on which; scripts/check-architecture.ts compares it with the manifests.
/** @type {import('dependency-cruiser').IConfiguration} */
const config = {
  forbidden: [
    {
      name: 'no-cycle-between-folders',
      comment: 'Folders of a package form layers: an import that closes a circle goes up.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(?:packages|apps)/[^/]+/src/.' },
      to: { circular: true },
    },
    {
      name: 'no-path-into-another-package',
      comment: 'Packages import each other by name.',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/' },
      to: { path: '^(?:packages|apps)/', pathNot: '^$1/$2/', dependencyTypes: ['local'] },
    },
    {
      name: 'not-to-unresolvable',
      comment: 'The build generates the files of the folder `generated`: a fresh clone lacks them.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '/generated/' },
    },
    {
      name: 'not-to-development-dependency',
      comment: 'The sources of a published package import nothing that only development installs.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'npm-peer', 'type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '(?:^|/)dist/'] },
    exclude: { path: '\\.test\\.tsx?$|(?:^|/)dist/|/testing/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      conditionNames: ['@ledger-state/source', 'node', 'import', 'types', 'default'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.d.ts'],
    },
  },
}

export default config
