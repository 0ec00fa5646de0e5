import './view-kits.test.ts'
