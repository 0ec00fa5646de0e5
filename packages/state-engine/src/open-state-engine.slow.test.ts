import './open-state-engine.test.js'
