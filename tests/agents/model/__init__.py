"""A model server for driving real agents offline: what it answers depends on the prompt alone.

    python -m tests.agents.model [--port 8099]

What the last user message makes it do (only where the request offers tools: a request without tools asks for
a title or a summary, and is echoed):

    slow N           "tick 1 " … every half second for N seconds, then "done"
    wait N           nothing for N seconds, then the echo
    think: TEXT      TEXT as reasoning, then the echo
    run: COMMAND     a call of the agent's shell tool; after it "tool said: RESULT"
    tool: NAME JSON  a call of that tool with those arguments
    fail: STATUS     an HTTP error of that status
    broken: nonsense a stream that is no JSON
    broken: cut      a stream that ends in the middle of its words (without a stream both are half an answer)
    anything else    "echo: <prompt>"

`behaviour` decides, one module per dialect reads requests and writes answers (`chat`: OpenAI Chat
Completions, `responses`: OpenAI Responses, `messages`: Anthropic Messages), `server` carries them. A further
dialect is a module like `chat` and one entry in `server.DIALECTS`.
"""
