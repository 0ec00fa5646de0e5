import './hostile-modules.test.js'
