import { render } from 'preact'
import { App } from './app.tsx'
import { connectLive } from './data/live.ts'
import { listenToKeys } from './shell/keyboard.ts'
import { followLinks } from './data/router.ts'
import { applyTheme } from './shell/theme.ts'

applyTheme()
connectLive()
followLinks()
listenToKeys()
render(<App />, document.body)
