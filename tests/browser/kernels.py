"""A page's kernel, reached beside the page: what the next cell would see, and what went wrong."""

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from threading import Thread
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient


class Kernel:
    """Runs code as a further cell would, and notes every error that the kernel reports, also those
    of widgets' callbacks, which no front end shows. The loop of this thread is Playwright's."""

    def __init__(self, connection_file: Path) -> None:
        self.errors: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client = AsyncKernelClient()
        self._client.load_connection_info(json.loads(connection_file.read_text()))
        self._client.start_channels(hb=False, stdin=False)
        self._wait(self._client.wait_for_ready(timeout=60))

    def run(self, code: str) -> str:
        """What the code printed; an AssertionError when it raised."""
        return str(self._wait(asyncio.wait_for(self._run(code), 60)))

    def close(self) -> None:
        """Hangs up; the kernel goes on."""
        self._client.stop_channels()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _run(self, code: str) -> str:
        request = self._client.execute(code, store_history=False, allow_stdin=False)
        printed, raised = [], None
        while True:
            message = await self._client.get_iopub_msg()
            kind, content = message["msg_type"], message["content"]
            ours = message["parent_header"].get("msg_id") == request
            if kind == "stream" and content["name"] == "stderr":
                # A page may still report to a panel that has just been closed.
                if not content["text"].startswith("No such comm"):
                    self.errors.append(content["text"])
            elif kind == "stream" and ours:
                printed.append(content["text"])
            elif kind == "error" and ours:
                raised = f"{content['ename']}: {content['evalue']}"
            elif kind == "error":
                self.errors.append("\n".join(content["traceback"]))
            elif kind == "status" and ours and content["execution_state"] == "idle":
                break
        assert raised is None, raised
        return "".join(printed).strip()
