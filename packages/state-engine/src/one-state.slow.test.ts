import './one-state.test.js'
