"""Checks of the inspector's rules, and of the form that changes a held load."""

from inspectorcheck import recordings, traffic
from inspectorcheck.livepage import COUNT, PANEL, LivePages


class HoldChecks(LivePages):
    def rules(self):
        page_of = lambda allows: self.live_page({**traffic.OPTIONS, "allowsChanges": allows})
        server, page = page_of(False)
        with server:
            self.equal(page.run("$('rules-button').hidden"), True, "no rules where nothing may be changed")
            server.send(traffic.entry(recordings.entry(0), 1, "held", "1.2"), traffic.held_request())
            page.until(f"{COUNT} == 1")
            page.run("document.querySelector('#rows .row').click()")
            self.equal(page.run("[$('held').hidden, $('tab-held')]"), [True, None], "and no form")
            page.close()
        server, page = page_of(True)
        with server:
            page.run("$('rules-button').focus()")
            page.press("Enter")
            page.type("api -png")
            page.press("Enter")
            first = {"id": "r1", "stage": "request", "method": "", "words": "api -png", "isOn": True}
            self.equal(server.action(), {"action": "setRules", "rules": [first]}, "a rule is added by keyboard")
            page.until("$('rules-button').textContent == 'Rules (1)'")
            page.until("$('new-rule').elements[2].value == ''")
            self.rules_change(server, page, first)
            server.refusal = "Rule r1 has too many words."
            page.set("Words that the URL has; -word for one that it has not", "x", "rule-list")
            page.until("$('rules-error').innerText == 'Rule r1 has too many words.'")
            page.press("Escape")
            self.equal(page.run("[$('rules').hidden, document.activeElement.id]"), [True, "rules-button"], "Escape")
            self.quiet(page, "rules")
            page.close()

    def rules_change(self, server, page, first):
        page.set("Method", "put", "rule-list")
        self.equal(server.action()["rules"], [first | {"method": "PUT"}], "a method")
        page.set("Stage", "both", "rule-list")
        self.equal(server.action()["rules"], [first | {"method": "PUT", "stage": "both"}], "a stage")
        page.run("document.querySelector('#rule-list [type=checkbox]').click()")
        self.equal(server.action()["rules"][0]["isOn"], False, "a rule is switched off")
        page.until("$('rules-button').textContent == 'Rules'")
        other = {"id": "o", "stage": "response", "method": "", "words": "elsewhere", "isOn": True}
        server.send({"type": "rules", "rules": [first, other]})
        page.until("$('rule-list').children.length == 2")
        page.press_button("Remove", "rule-list")
        self.equal(server.action()["rules"], [other], "a rule is removed")
        page.until("$('rule-list').children.length == 1")
        self.equal(page.run("document.activeElement.type"), "checkbox", "the focus goes to the next rule")

    def holding(self):
        loads = [traffic.entry(recordings.entry(n, url=f"https://example.com/{n}"), n, "held", "1.2") for n in (1, 2)]
        server, page = self.live_page(
            traffic.OPTIONS, *traffic.SESSIONS, *loads, traffic.held_request(), traffic.held_response()
        )
        with server:
            self.equal(page.text("held"), "2 held", "their number")
            statuses = "[...document.querySelectorAll('#rows .status')].map((it) => it.textContent)"
            self.equal(page.run(statuses), ["held", "held"], "held loads in the list")
            page.run("$('grid').focus()")
            page.press("h")
            self.equal(page.run("document.activeElement.id"), "tab-held", "h goes to the first")
            self.hold_form_stays(server, page, loads[0])
            self.hold_changes(server, page)
            self.hold_response(server, page)
            self.hold_answers(server, page)
            self.hold_refused(server, page)
            self.hold_bodies(server, page)
            self.quiet(page, "held loads")
            page.close()

    def hold_form_stays(self, server, page, load):
        """Events, other tabs and a new connection leave a form that is edited as it is."""
        page.set("Value of Accept", "text/plain")
        server.send(load, traffic.decision("1", 1, traffic.START), {"type": "gap"})
        page.until("!$('notice').hidden")
        value = "[document.activeElement.ariaLabel, document.activeElement.value]"
        self.equal(page.run(value), ["Value of Accept", "text/plain"], "the form while events come")
        page.click("tab-request")
        page.click("tab-held")
        field = "$('panel').querySelector('[aria-label=\"Value of Accept\"]')?.value"
        self.equal(page.run(field), "text/plain", "the form after another tab")
        page.run("$('notice').hidden = true; undefined")
        server.disconnect()
        held = list(server.held)
        again = [traffic.held_request(), traffic.held_response()]
        server.send(traffic.OPTIONS, load, *again, {"type": "gap"})
        page.until("!$('notice').hidden")
        server.held = held
        self.equal([page.run(field), page.text("held")], ["text/plain", "2 held"], "the form after a reconnection")

    def hold_changes(self, server, page):
        page.set("URL", "https://api.example.com/v2")
        page.set("Method", "PUT")
        page.press_button("Add a field")
        self.equal(page.run("document.activeElement.ariaLabel"), "Name of the field", "the focus is in the new field")
        page.type("X-A")
        page.press("Tab")
        page.type("1")
        page.run("[...$('panel').querySelectorAll('[aria-label=\"Remove Content-Type\"]')].at(-1).click()")
        page.set("Request: body", '{"name": ')
        self.expect("This is no JSON" in page.run(PANEL), "a mistake in JSON is shown")
        page.set("Request: body", '{\n"name": "Eve"}')
        self.expect("This is JSON." in page.run(PANEL), "JSON")
        page.press("Enter", modifiers=2)
        fields = recordings.fields(Accept="text/plain", Authorization="(redacted)", X_A="1")
        request = {"method": "PUT", "url": "https://api.example.com/v2", "headers": fields}
        request["body"] = {"text": '{\r\n"name": "Eve"}'}
        self.equal(server.action(), {"action": "release", "request": request, "id": "5"}, "a changed request")
        page.until("$('held').textContent == '1 held'")
        self.equal(page.run("[$('tab-held'), document.activeElement.id]"), [None, "tab-overview"], "the focus then")

    def hold_response(self, server, page):
        page.press("h")
        page.press("Enter")
        self.expect("before the program gets it" in page.run(PANEL), "a held response")
        self.equal(page.run("$('panel').querySelector('textarea').value"), "12,50 €", "UTF-8 in base64 is a text")
        page.set("Response: status", "12")
        page.press_button("Continue")
        page.until("$('panel').querySelector('.problem')?.innerText.includes('from 200 to 599')")
        page.set("Response: status", "503")
        page.press_button("Continue")
        original = traffic.held_response()["hold"]["response"]
        self.equal(
            server.action(), {"action": "release", "response": original | {"status": 503}, "id": "6"}, "a response"
        )
        page.until("$('held').hidden")

    def hold_answers(self, server, page):
        """Each of the other buttons."""
        for button, expected in [
            ("Continue unchanged", {"action": "release"}),
            ("Continue", {"action": "release"}),
            ("Fail", {"action": "fail"}),
        ]:
            server.send(traffic.held_request("8"))
            page.until("!$('held').hidden")
            page.press("h")
            page.press_button(button)
            self.equal(server.action(), expected | {"id": "8"}, button)
            page.until("$('held').hidden")
        server.send(traffic.held_request("9"))
        page.until("!$('held').hidden")
        page.press("h")
        page.press_button("Answer without sending…")
        self.equal(page.run("document.activeElement.ariaLabel"), "Answer: status", "the focus is in the answer")
        page.set("Answer: status", "418")
        page.set("Answer: body", "short and stout")
        page.press_button("Send this answer")
        fields = [{"name": "Content-Type", "value": "text/plain; charset=utf-8"}]
        response = {"status": 418, "headers": fields, "body": {"text": "short and stout"}}
        self.equal(server.action(), {"action": "answer", "response": response, "id": "9"}, "an answer")
        page.until("$('held').hidden")

    def hold_refused(self, server, page):
        server.refusal = "The URL has no host. <b>"
        server.send(traffic.held_request("10"), traffic.held_request("11", "unknown"))
        page.until("$('held').textContent == '2 held'")
        self.equal(page.run(COUNT), 3, "a held load without an entry has a row")
        page.run("$('grid').focus()")
        page.press("h")
        page.set("URL", "https:///")
        page.press_button("Continue")
        self.equal(server.action()["request"]["url"], "https:///", "what the program refuses")
        page.until("$('panel').querySelector('.problem').innerText == 'The URL has no host. <b>'")
        self.equal(page.run("$('panel').querySelector('[aria-label=URL]').value"), "https:///", "the form stays")
        server.refusal = ""
        page.press_button("Fail")
        self.equal(server.action()["action"], "fail", "it is tried again")
        page.until("$('held').textContent == '1 held'")
        page.click("clear")
        self.equal(page.run(COUNT), 1, "a held load is not cleared")
        page.click("rules-button")
        page.click("release-all")
        self.equal(server.action(), {"action": "releaseAll"}, "all are released")
        page.until("$('held').hidden")
        self.equal(page.run(COUNT), 0, "a load without an entry is not shown any more")
        page.click("rules-button")
        page.run("$('grid').focus()")

    def hold_bodies(self, server, page):
        """Bodies that are not edited, and texts that a control changes, go back as they came."""
        bodies = [
            {"body": None},
            {"body": None, "bodyNote": "It is read from a file."},
            {"body": {"text": "AAEC/w==", "encoding": "base64"}},
            {"body": {"text": "a\r\nb\nc\r"}},
            {"body": {"text": ""}, "headers": [{"name": "A", "value": "x\ty"}] * 600},
        ]
        for body in bodies:
            page.run("$('grid').focus()")
            sent = traffic.held_request("12", **body)
            server.send(sent)
            page.until("!$('held').hidden")
            page.press("h")
            page.set("Method", "PATCH")
            page.press_button("Continue")
            expected = sent["hold"]["request"] | {"method": "PATCH"}
            expected.pop("bodyNote", None)
            self.equal(server.action()["request"], expected, f"the body {body}"[:200])
            page.until("$('held').hidden")
