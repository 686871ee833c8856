"""Whether a rule is right at each point of a check, and the report that says so.

`judging` judges one point; `answer_findings` covers what an answer shows by itself, `effects` what a rule
does besides computing, `kept_state` containers that make a rule raise, `variant_judging` the variants of a
point, `orders` second derivatives (with the functions in `differentiated`), and `nonfinite_places` places
where only the rule has no number. `settling` drops findings at arguments that were not given, with
`lengths_meant`, `symmetric_meant` and `halvings`. `reports` and `report_page` present the result.
"""
