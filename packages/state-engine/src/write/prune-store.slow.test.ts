import './prune-store.test.js'
