import './check-store.test.js'
